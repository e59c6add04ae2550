package python

import "math/big"

// The names of the nodes are those of CPython's ast module.

// Node is a part of the tree.
type Node interface {
	// Start is where the node's source begins; every node has one.
	Start() Pos
}

// Stmt is a statement.
type Stmt interface {
	Node
	stmt()
}

// Expr is an expression.
type Expr interface {
	Node
	expr()
}

// Module is a whole program.
type Module struct{ Body []Stmt }

// At is where a node begins; nodes embed it.
type At struct{ Pos Pos }

// Start implements Node.
func (a At) Start() Pos { return a.Pos }

type (
	// FunctionDef is def or async def.
	FunctionDef struct {
		At
		Name       string
		NamePos    Pos
		Parameters Parameters
		Returns    Expr // nil without annotation
		Body       []Stmt
		Async      bool
		Decorators []Expr
	}
	// Return is return, with Value nil where there is none.
	Return struct {
		At
		Value Expr
	}
	// Delete is del.
	Delete struct {
		At
		Targets []Expr
	}
	// Assign is `a = b = value`.
	Assign struct {
		At
		Targets []Expr
		Value   Expr
	}
	// AugAssign is `target op= value`; Op is without the equals sign.
	AugAssign struct {
		At
		Target Expr
		Op     string
		OpPos  Pos
		Value  Expr
	}
	// AnnAssign is `target: annotation = value`, with Value nil where there is
	// none.
	AnnAssign struct {
		At
		Target, Annotation, Value Expr
	}
	// For is for or async for, with its else part.
	For struct {
		At
		Target, Iter Expr
		Body, Else   []Stmt
		Async        bool
	}
	// While is while, with its else part.
	While struct {
		At
		Test       Expr
		Body, Else []Stmt
	}
	// If is if; an elif is an If alone in Else.
	If struct {
		At
		Test       Expr
		Body, Else []Stmt
	}
	// Raise is raise; both parts may be nil.
	Raise struct {
		At
		Exc, Cause Expr
	}
	// Try is try.
	Try struct {
		At
		Body     []Stmt
		Handlers []*ExceptHandler
		Else     []Stmt
		Finally  []Stmt
	}
	// Assert is assert; Message may be nil.
	Assert struct {
		At
		Test, Message Expr
	}
	// Import is import, and with From import from.
	Import struct {
		At
		From   string // module of `from module import …`
		IsFrom bool
		Names  []Alias
	}
	// Global and Nonlocal declare names of outer scopes.
	Global struct {
		At
		Names []*Name
	}
	// Nonlocal is nonlocal.
	Nonlocal struct {
		At
		Names []*Name
	}
	// ExprStmt is an expression as a statement.
	ExprStmt struct {
		At
		Value Expr
	}
	// Pass is pass.
	Pass struct{ At }
	// Break is break.
	Break struct{ At }
	// Continue is continue.
	Continue struct{ At }
)

// ExceptHandler is `except Type as Name:`; Type may be nil and Name empty.
type ExceptHandler struct {
	At
	Type    Expr
	Name    string
	NamePos Pos
	Body    []Stmt
}

// Alias is `Name as As`. Name may be dotted; As may be empty.
type Alias struct {
	At
	Name, As string
}

// Parameters are those of a function, in the order of the source:
// positional-only, ordinary, *Rest, keyword-only, **Keywords.
type Parameters struct {
	// PositionalOnly is how many of Ordinary stand before a slash.
	PositionalOnly int
	Ordinary       []*Parameter
	Rest           *Parameter // nil without; a lone star has KeywordOnly only
	KeywordOnly    []*Parameter
	Keywords       *Parameter
}

// Parameter is one of them. Annotation and Default may be nil.
type Parameter struct {
	At
	Name                string
	Annotation, Default Expr
}

type (
	// BoolOp is a chain of one operator, `and` or `or`.
	BoolOp struct {
		At
		Op     string
		Values []Expr
	}
	// NamedExpr is `target := value`.
	NamedExpr struct {
		At
		Target *Name
		Value  Expr
	}
	// BinOp is a binary operator of arithmetic or bits.
	BinOp struct {
		At
		Left, Right Expr
		Op          string
		OpPos       Pos
	}
	// UnaryOp is `not`, `-`, `+` or `~`.
	UnaryOp struct {
		At
		Op      string
		Operand Expr
	}
	// Lambda is a lambda.
	Lambda struct {
		At
		Parameters Parameters
		Body       Expr
	}
	// IfExp is `body if test else other`.
	IfExp struct {
		At
		Test, Body, Else Expr
	}
	// Dict is a dict display. A nil key is `**value`.
	Dict struct {
		At
		Keys, Values []Expr
	}
	// Set is a set display.
	Set struct {
		At
		Items []Expr
	}
	// List is a list display or target.
	List struct {
		At
		Items []Expr
	}
	// Tuple is a tuple display or target.
	Tuple struct {
		At
		Items []Expr
	}
	// Comprehension is one of all four; Key is nil but for dicts.
	Comprehension struct {
		At
		Kind       ComprehensionKind
		Key, Value Expr
		Clauses    []Clause
	}
	// Await is await.
	Await struct {
		At
		Value Expr
	}
	// Compare is a chain of comparisons: Left Ops[0] Rights[0] Ops[1] ….
	Compare struct {
		At
		Left   Expr
		Ops    []string // < <= > >= == != in "not in" is "is not"
		OpPos  []Pos
		Rights []Expr
	}
	// Call is a call.
	Call struct {
		At
		Func      Expr
		Paren     Pos // of the opening one
		Arguments []Argument
	}
	// Attribute is `value.name`.
	Attribute struct {
		At
		Value   Expr
		Name    string
		NamePos Pos
	}
	// Subscript is `value[index]`.
	Subscript struct {
		At
		Value   Expr
		Bracket Pos
		Index   Expr // a *Slice, a *Tuple or any other
	}
	// Slice is `low:high:step` in a subscript; each part may be nil.
	Slice struct {
		At
		Low, High, Step Expr
	}
	// Starred is `*value` in a display, a call or a target.
	Starred struct {
		At
		Value Expr
	}
	// Name is a variable.
	Name struct {
		At
		ID string
	}
	// Str is a text, adjacent literals joined.
	Str struct {
		At
		Value string
	}
	// Bytes is a bytes literal, adjacent ones joined.
	Bytes struct {
		At
		Value string
	}
	// Int is an integer; Big is nil where Small holds it.
	Int struct {
		At
		Small int64
		Big   *big.Int
	}
	// Float is a number with a point or exponent.
	Float struct {
		At
		Value float64
	}
	// Constant is True, False, None or Ellipsis.
	Constant struct {
		At
		Value string
	}
	// JoinedStr is an f-string, adjacent literals joined: *Str and
	// *FormattedValue.
	JoinedStr struct {
		At
		Parts []Expr
	}
	// FormattedValue is a replacement field.
	FormattedValue struct {
		At
		Value Expr
		// Debug is the source of the expression in a field with `=`, with it.
		Debug string
		// Conversion is 's', 'r', 'a', or 0.
		Conversion byte
		// Format is the parts of the format specification, nil without.
		Format []Expr
	}
)

// ComprehensionKind tells the four comprehensions apart.
type ComprehensionKind uint8

// The kinds.
const (
	ListComp ComprehensionKind = iota
	SetComp
	DictComp
	GeneratorExp
)

// Clause is one `for target in iter if …` of a comprehension.
type Clause struct {
	At
	Target, Iter Expr
	Conditions   []Expr
	Async        bool
}

// Argument is one of a call: positional, keyword (Name), `*value` (Star 1) or
// `**value` (Star 2).
type Argument struct {
	At
	Name  string
	Star  int
	Value Expr
}

func (*FunctionDef) stmt() {}
func (*Return) stmt()      {}
func (*Delete) stmt()      {}
func (*Assign) stmt()      {}
func (*AugAssign) stmt()   {}
func (*AnnAssign) stmt()   {}
func (*For) stmt()         {}
func (*While) stmt()       {}
func (*If) stmt()          {}
func (*Raise) stmt()       {}
func (*Try) stmt()         {}
func (*Assert) stmt()      {}
func (*Import) stmt()      {}
func (*Global) stmt()      {}
func (*Nonlocal) stmt()    {}
func (*ExprStmt) stmt()    {}
func (*Pass) stmt()        {}
func (*Break) stmt()       {}
func (*Continue) stmt()    {}

func (*BoolOp) expr()         {}
func (*NamedExpr) expr()      {}
func (*BinOp) expr()          {}
func (*UnaryOp) expr()        {}
func (*Lambda) expr()         {}
func (*IfExp) expr()          {}
func (*Dict) expr()           {}
func (*Set) expr()            {}
func (*List) expr()           {}
func (*Tuple) expr()          {}
func (*Comprehension) expr()  {}
func (*Await) expr()          {}
func (*Compare) expr()        {}
func (*Call) expr()           {}
func (*Attribute) expr()      {}
func (*Subscript) expr()      {}
func (*Slice) expr()          {}
func (*Starred) expr()        {}
func (*Name) expr()           {}
func (*Str) expr()            {}
func (*Bytes) expr()          {}
func (*Int) expr()            {}
func (*Float) expr()          {}
func (*Constant) expr()       {}
func (*JoinedStr) expr()      {}
func (*FormattedValue) expr() {}
