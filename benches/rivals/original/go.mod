module filch.dev/benches/original

go 1.26.4

require github.com/wippyai/runtime v0.0.0-20260613232728-a70f2701d676
