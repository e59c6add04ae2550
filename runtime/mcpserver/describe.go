package mcpserver

// What a model is told of the tools. Every word is paid for in each session,
// so a text says what cannot be guessed and nothing else.

const searchText = `Find capabilities by what they do. Say it in a few words ("list directory", "read file"). ` +
	`Results come best first, each with its exact name, its signature and a summary; an exact dotted name comes before all others. ` +
	`If results are weak or missing, try other words; an empty query lists the namespaces.`

const describeText = `Describe capabilities by exact name. input says of each parameter what the signature does not: meaning, bounds, allowed values; output is what a call returns. ` +
	`A field is "type: meaning", or an object; it is always there unless it says required false or has a default. ` +
	`Do this before you first call a capability in execute, for several at once with names; ask again for names that come back truncated.`

const executeText = `Run one program and return what its main function returns. The program is Starlark, which reads like Python: ` +
	`functions, loops, list and dict comprehensions, string methods, json, math; ` +
	`no imports, f-strings, generator expressions, format specs, try, with, classes, files or network. ` +
	`Inside main, capabilities are called by dotted name with keyword arguments, as many as the task needs; ` +
	`filter and combine their results in the program and return only what you want to read. ` +
	`The result is None, a bool, int, float or str, or a list or dict (string keys) of them; prints are discarded. ` +
	`parallel([f, g]) calls both at once; attempt(f, key=…) returns ok, value and error. ` +
	`Nothing is kept between programs.

Example, with a capability records.lookup(*, key: str):

def main():
    found = {}
    for key in ["a", "b"]:
        found[key] = records.lookup(key=key)["count"]
    return found

A failure says where and why; its receipt lists which calls were done.`

// defaultInstructions are sent when the manifest has none.
const defaultInstructions = `Find capabilities with search_api, read their parameters with describe_api, then do the whole task in one program with execute.`
