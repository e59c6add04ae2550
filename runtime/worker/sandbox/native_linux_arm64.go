package sandbox

func native() *calls { return onARM() }
