module firebolt.local/pause

go 1.26.0
