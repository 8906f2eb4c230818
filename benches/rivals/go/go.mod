module filch/benches/go

go 1.23
