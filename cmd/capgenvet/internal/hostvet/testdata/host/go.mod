module example.com/host

go 1.26.0

require (
	example.com/dep v1.2.3
	github.com/capgen/capgen v0.1.0
)
