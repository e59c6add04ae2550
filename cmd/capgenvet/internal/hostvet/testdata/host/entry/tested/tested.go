package tested
