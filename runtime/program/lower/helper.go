package lower

// Names of helpers. Operators of two operands:
const (
	Add          = "$+"
	Subtract     = "$-"
	Multiply     = "$*"
	Divide       = "$/"
	FloorDivide  = "$//"
	Modulo       = "$%"
	Power        = "$**"
	ShiftLeft    = "$<<"
	ShiftRight   = "$>>"
	And          = "$&"
	Or           = "$|"
	Xor          = "$^"
	Equal        = "$=="
	NotEqual     = "$!="
	Less         = "$<"
	LessEqual    = "$<="
	Greater      = "$>"
	GreaterEqual = "$>="
	In           = "$has"
	NotIn        = "$not in"
	Is           = "$is"
	IsNot        = "$is not"
	Index        = "$[]"
	// Assign is x := y: the cell x is set, and the value is y.
	Assign = "$:="
	// Filled makes a variable; the operands are its name and value.
	Filled = "$filled"
	// Matches tells whether what was caught, x, is an instance of y, a class
	// or a tuple of classes.
	Matches = "$matches"
	// InPlace follows the operators above in x += y and the like.
	InPlace = "="
)

// CutAt precedes the bounds of a slice that are small ints: $cut:2:-1 - x is
// x[2:-1].
const CutAt = "$cut:"

// Operators of one operand:
const (
	Negative = "$neg"
	Positive = "$pos"
	Invert   = "$~"
	// Cell makes an empty variable; the operand is its name.
	Cell = "$cell"
	// Iter is what a loop goes over: an iterable that sees changes as CPython
	// does, and keeps the error that ends it early for Done.
	Iter = "$iter"
	// Done returns its operand, or raises what ended an iteration early.
	Done = "$done"
	// Haystack is y of x in y: x in ($in - y).
	Haystack = "$in"
	// Cut is a slice without a step: (($cut - x) - low) - high.
	Cut = "$cut"
	// Set is x of x[y] = z: ($set - x)[y] = z.
	Set = "$set"
	// SetOf makes a set of a list.
	SetOf = "$setof"
	// DictOf makes a dict of a list of pairs.
	DictOf = "$dictof"
	// Async makes an async function of a function.
	Async = "$async"
	// Str is str(x), as f-strings have it.
	Str = "$str"
	// Return is the signal of a return; Value is what it returns.
	Return, Value = "$return", "$value"
	// Returned, Broke, Continued and Caught tell what $try returned.
	Returned, Broke, Continued, Caught = "$returned", "$broke", "$continued", "$caught"
	// Exception is the exception of what was caught.
	Exception = "$exception"
	// Reraise raises what was caught again; Finish does if something was.
	Reraise, Finish = "$reraise", "$finish"
	// Items precedes list, tuple or mkset: the elements of its operand, which
	// stands behind a star in such a display.
	Items = "$*"
	// Entries is a copy of its operand, which stands behind two stars in a dict
	// display.
	Entries = "$**{}"
	// Spread and SpreadNamed check the operands of f(*x) and f(**x).
	Spread, SpreadNamed = "$*args", "$**args"
)

// Functions:
const (
	Slice      = "$slice"     // (x, low, high, step); None is left out
	SetItem    = "$setitem"   // (x, index, value)
	SetSlice   = "$setslice"  // (x, low, high, step, value)
	DelItem    = "$delitem"   // (x, index)
	DelSlice   = "$delslice"  // (x, low, high, step)
	Attr       = "$attr"      // (x, name)
	SetAttr    = "$setattr"   // (x, name, value)
	Try        = "$try"       // (body)
	Raise      = "$raise"     // (exception, cause or None); () outside a handler
	Assert     = "$assert"    // (message…)
	Import     = "$import"    // (module)
	Await      = "$await"     // (x)
	Defer      = "$defer"     // (f, *args, **kwargs): the call as a coroutine
	Chain      = "$chain"     // (x, op, y function, op, y function, …)
	Generator  = "$generator" // (iterable, function of an element, whether that returns generators)
	Unpack     = "$unpack"    // (x, targets, place of the starred one or -1)
	FString    = "$fstring"   // (text…)
	Format     = "$format"    // (x, conversion, format)
	MakeList   = "$list"      // (flags, item…); a flag is . for an item, * for an iterable
	MakeTuple  = "$tuple"     // the same
	MakeSet    = "$mkset"     // the same
	MakeDict   = "$dict"      // (flags, key, value…, mapping…)
	MakeKwargs = "$kwargs"    // the same, for a call: keys are strings, none twice
	EnterMain  = "$main"      // (function): runs a program's main()
	// Having precedes a method's name: x, or the error that x has none of that
	// name, before the arguments of its call are evaluated.
	Having = "$?."
	// Method precedes a method's name: $.split(x, ",") is x.split(",").
	Method = "$."
)

// Values:
const (
	Break    = "$break"
	Continue = "$continue"
	// Skip is what a generator's function returns for an element that is left
	// out; a generator it returns is gone through.
	Skip = "$skip"
	// Unset empties a cell, and Deleted one that has a value.
	Unset, Deleted = "$unset", "$deleted"
)

// A cell holds its value in a field, whose name tells whose variable it is to
// the function that uses it: its own, one of a function around it, or one of
// the program's top level.
const (
	CellField   = "v"
	FreeField   = "f"
	GlobalField = "g"
	// HiddenField takes the predeclared value that a variable of the top level
	// hides: it is found where the variable has none.
	HiddenField = "h"
)

// GlobalMark ends the name of a variable of the program's top level that lives
// in no cell.
const GlobalMark = "@"

// LocalMark stands between the name of a function's variable that is no
// parameter and lives in no cell, and the name of the function.
const LocalMark = "'"

// PositionalMark ends the name of a parameter before a slash, so that no call
// can name it.
const PositionalMark = "/"

// BodyPrefix begins the names of the functions that parts of a try become.
const BodyPrefix = "$body"
