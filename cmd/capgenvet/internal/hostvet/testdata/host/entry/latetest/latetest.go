package latetest
