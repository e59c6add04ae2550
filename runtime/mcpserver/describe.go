package mcpserver

// What a model is told of the tools. Every word is paid for in each session,
// so a text says what cannot be guessed and nothing else.

const searchText = `Find capabilities by what they do. Say it in a few words ("list directory", "read file"). ` +
	`Results come best first, each with its exact name, its signature and a summary; an exact dotted name comes before all others. ` +
	`If results are weak or missing, try other words; an empty query lists the namespaces.`

const describeText = `Describe capabilities by exact name. input says of each parameter what the signature does not: meaning, bounds, allowed values; output is what a call returns. ` +
	`A field is "type: meaning", or an object; it is always there unless it says required false or has a default. ` +
	`Do this before you first call a capability in execute, for several at once with names; ask again for names that come back truncated.`

const executeText = `Run one Python program and return its value: what main() returns or, without main, the last expression. ` +
	`No class, with, yield, match, files, network or clock; of modules json, math and asyncio. What is missing is refused with what to write instead. ` +
	`Call capabilities by dotted name with keyword arguments; results read like dicts, r["key"] or r.key. ` +
	`Return only what you want to read, as JSON has it; prints are discarded, nothing is kept. ` +
	`parallel([f, g]) runs functions at once.

Example, with records.lookup(*, key: str):

def main():
    found = {}
    for key in data["keys"]:
        try:
            found[key] = records.lookup(key=key)["count"]
        except Exception as e:
            found[key] = f"failed: {e}"
    return found

A failure says where and why; its receipt lists which calls were done.`

// defaultInstructions are sent when the manifest has none.
const defaultInstructions = `Find capabilities with search_api, read their parameters with describe_api, then do the whole task in one program with execute.`
