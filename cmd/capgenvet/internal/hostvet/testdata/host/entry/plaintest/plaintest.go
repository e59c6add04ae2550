package plaintest
