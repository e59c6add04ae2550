package host

// What is linked into a host is initialized in its workers too, before they
// enter the sandbox. capgenvet names the packages that do more than make
// values then. Somebody has looked at these, whose modules capgen brings:

//capgenvet:dependency github.com/google/jsonschema-go/jsonschema reads one variable of its own, which selects how it infers schemas of Go types
//capgenvet:dependency github.com/modelcontextprotocol/go-sdk/internal/mcpgodebug reads the variable MCPGODEBUG, which selects what the SDK did before
//capgenvet:dependency golang.org/x/sys/cpu reads the variable GODEBUG, which switches features of the processor off
