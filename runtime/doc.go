// Package runtime is what hosts and generated code import: it registers
// capabilities once, immutably, and serves search, description and execution
// over them. It must never know how a manifest is written or how a transport
// works.
package runtime
