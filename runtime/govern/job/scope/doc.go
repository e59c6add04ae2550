// Package scope holds the processes of one run, whatever they do to get away,
// and ends them all. That nothing is left is proved, not assumed. It must never
// know what runs, who asked for it, or what it is good for.
//
// A keeper, a process of the same executable, starts the first process of the run
// and is the one that every other of them falls back to. What holds them is a
// [Tier]: a control group, a namespace of process ids, or the tree below the
// keeper.
//
//	func main() {
//		scope.ServeKeeperAndExit() // returns at once in a process that is no keeper
//		...
//		s, err := scope.Open(scope.Options{Tier: scope.Namespace})
//		if err != nil {
//			return err
//		}
//		save(s.Handle()) // before anything runs: whoever has it can end the scope
//		if err := s.Start(scope.Command{Path: "/usr/bin/python3", Args: []string{"python3", "entry.py"}}); err != nil {
//			return err
//		}
//		exit, err := s.Wait(ctx)
//		...
//		err = s.End(ctx) // nil: nothing of it runs any more
//
// The keeper ends everything when the process that opened the scope is gone. If
// both were killed, [Handle.End] ends what is left, in any other process, as far
// as the tier lets it: it never signals a process by a number alone, which may be
// another's by then.
package scope
