sort -m "$@" | uniq -c | sort -k1,1nr -k2 > words.txt
