package program

import "github.com/capgen/capgen/runtime/program/python"

// places is what is looked up in the program's tree when it fails: a program
// may fail again and again, so that the tree is walked once.
type places struct {
	calls          map[python.Pos]*python.Call // by the opening bracket
	comprehensions []*comprehension
}

// comprehension is from where to where one reaches, and what it uses beside its
// first iterable, with the places of that.
type comprehension struct {
	start, last python.Pos
	uses        map[string]bool
	first       map[python.Pos]bool
}

// places are those of the program. Whoever asks pays for what is looked through.
func (e *engine) places() *places {
	if e.found == nil {
		e.found = &places{calls: map[python.Pos]*python.Call{}}
		python.Walk(e.tree, func(n python.Node) bool {
			switch n := n.(type) {
			case *python.Call:
				e.found.calls[n.Paren] = n
			case *python.Comprehension:
				e.found.comprehensions = append(e.found.comprehensions, reach(n))
			}
			return true
		})
	}
	_ = e.charge(1 + len(e.found.comprehensions)/8) // without steps left the program ends whatever follows
	return e.found
}

func reach(n *python.Comprehension) *comprehension {
	c := &comprehension{start: n.Pos, last: n.Pos, uses: map[string]bool{}, first: map[python.Pos]bool{}}
	firsts := map[python.Node]bool{}
	python.WalkNode(n.Clauses[0].Iter, func(n python.Node) bool {
		firsts[n] = true
		c.first[n.Start()] = true
		return true
	})
	python.WalkNode(n, func(n python.Node) bool {
		if x, ok := n.(*python.Name); ok && !firsts[n] {
			c.uses[x.ID] = true
		}
		if start := n.Start(); before(c.last, start) {
			c.last = start
		}
		return true
	})
	return c
}
