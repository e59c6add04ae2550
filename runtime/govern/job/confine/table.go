package confine

// Holds is what becomes of something that a candidate tries.
type Holds string

const (
	// Refused is what fails, with an error that the candidate sees.
	Refused Holds = "refused"
	// Contained is what succeeds and stays within a bound, or ends with the
	// candidate.
	Contained Holds = "contained"
	// Open is what the candidate can do as the account that it runs as.
	Open Holds = "open"
)

// Row is what becomes of one threat in each tier.
type Row struct {
	Threat string
	By     map[Tier]Holds
	// Tested tells that a test of this repository does it in each tier, on Linux
	// and as root, and compares what happens with this row.
	Tested bool
}

// Table is what each tier refuses, contains and leaves open: for None, a
// candidate of the server's account, which is root's; for Worker, one in a process
// that has entered all layers of runtime/worker/sandbox; for the others, whatever
// the scope's tier. Limits are those of the scope, which root raises, and which do
// not count what has no address and no path; output is bounded by who reads it.
func Table() []Row {
	row := func(threat string, namespaces, landlock, worker, none Holds) Row {
		return Row{Threat: threat, By: map[Tier]Holds{Namespaces: namespaces, Landlock: landlock, Worker: worker, None: none}, Tested: true}
	}
	return []Row{
		row("read the token key", Refused, Refused, Refused, Open),
		row("read the database", Refused, Refused, Refused, Open),
		row("read the trust root", Refused, Refused, Refused, Open),
		row("read the server's $HOME", Refused, Refused, Refused, Open),
		row("read another job's box", Refused, Refused, Refused, Open),
		row("find out whether a file outside exists, its size and times", Refused, Open, Refused, Open),
		row("watch files of others", Refused, Refused, Refused, Open),
		row("write or remove a file outside of its box", Refused, Refused, Refused, Open),
		row("set extended attributes of a file outside of its box", Refused, Refused, Refused, Open),
		row("set the times of a file outside of its box, where its mode lets it", Refused, Open, Refused, Open),
		row("change its own code or arguments", Refused, Refused, Refused, Open),
		row("run machine code of its own", Open, Open, Refused, Open),
		row("get rights by a set-user-id program", Refused, Refused, Refused, Open),
		row("use the network by IPv4", Refused, Refused, Refused, Open),
		row("use the network by IPv6", Refused, Refused, Refused, Open),
		row("use Unix sockets with a path", Refused, Refused, Refused, Open),
		row("use abstract Unix sockets", Refused, Refused, Refused, Open),
		row("use sockets of other families (netlink, packet, vsock)", Refused, Refused, Refused, Open),
		row("signal the server, a supervisor or another job", Refused, Refused, Refused, Open),
		row("find out which processes of others there are, by their numbers", Open, Open, Refused, Open),
		row("find out whose processes of others are", Refused, Refused, Refused, Open),
		row("change the limits, priority or processors of processes of others", Refused, Refused, Refused, Open),
		row("trace another process or read its memory", Refused, Refused, Refused, Open),
		row("use shared memory, semaphores or messages of others", Refused, Refused, Refused, Open),
		row("use kernel keyrings", Refused, Refused, Refused, Open),
		row("use devices but null, zero, full, random, urandom", Refused, Refused, Refused, Open),
		row("read /proc or /sys", Refused, Refused, Refused, Open),
		row("use mounts, namespaces, bpf, perf, io_uring, userfaultfd", Refused, Refused, Refused, Open),
		row("use up asynchronous I/O, of which the host has an amount for all", Refused, Refused, Refused, Open),
		row("raise its own limits", Refused, Refused, Refused, Open),
		row("leave its scope (double fork, setsid)", Contained, Contained, Refused, Contained),
		row("fork without end", Contained, Contained, Refused, Open),
		row("use memory without end, in one process", Contained, Contained, Contained, Open),
		row("use processor time without end, in one process", Contained, Contained, Contained, Open),
		row("write output without end", Contained, Contained, Contained, Contained),
		row("write a file without end", Contained, Contained, Refused, Open),
		row("take room on the disk beyond the size of its files", Refused, Refused, Refused, Open),
		row("write files without number", Open, Open, Refused, Open),
	}
}
