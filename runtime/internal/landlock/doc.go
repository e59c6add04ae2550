// Package landlock makes and enters rulesets of Landlock, with which a process
// gives up for good what it could do with files, TCP and other processes. It must
// never know what is confined, or why.
package landlock
