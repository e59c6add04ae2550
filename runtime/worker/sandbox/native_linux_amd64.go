package sandbox

func native() *calls { return onX86() }
