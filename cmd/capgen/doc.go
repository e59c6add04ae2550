// Command capgen compiles a manifest into Go, and says when the two have come
// apart. It must never know what a manifest means or how Go is written: schema
// and codegen do; here are only files, flags and words for the person who
// types.
//
// Where there is nothing yet:
//
//	capgen init example.com/notes --dir notes
//
// Where a capabilities.yaml is:
//
//	capgen generate          write generated/
//	capgen check             compare it with what generate would write
//	capgen lint              find what is allowed and yet not good
//	capgen show files.read   print one capability in its effective form
//
// Where an MCP server's list of tools is:
//
//	capgen import mcp notes-server.json
package main
