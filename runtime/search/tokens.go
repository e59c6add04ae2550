package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTermBytes cuts a term, so that one endless word costs no more than a
// long one. Names are at most 64 bytes (the manifest's rule for a name).
const maxTermBytes = 64

// charClass is what the boundary rule sees of a rune.
type charClass uint8

const (
	separator charClass = iota
	digit
	upper
	lower // and every letter that has no case
)

func classOf(r rune) charClass {
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case 'A' <= r && r <= 'Z':
		return upper
	case '0' <= r && r <= '9':
		return digit
	case r < utf8.RuneSelf, r == utf8.RuneError:
		return separator
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return separator
}

// terms splits s at punctuation, at the edges of digit runs and where case
// says that a word starts (readMany, HTTPServer), folds each word and drops
// connectors. It reads s once.
func terms(s string) []string {
	var out []string
	words(s, func(word string) {
		if term := fold(word); term != "" {
			out = append(out, term)
		}
	})
	return out
}

// words calls yield for every word of s, case kept.
func words(s string, yield func(string)) {
	start := -1 // of the word being read
	var last charClass
	for i, r := range s {
		class := classOf(r)
		switch {
		case class == separator:
			if start >= 0 {
				yield(s[start:i])
			}
			start = -1
		case start < 0:
			start = i
		case (class == digit) != (last == digit), class == upper && last == lower:
			yield(s[start:i])
			start = i
		case class == lower && last == upper:
			// HTTPServer: the last capital belongs to the word it begins.
			_, size := utf8.DecodeLastRuneInString(s[start:i])
			if head := i - size; head > start {
				yield(s[start:head])
				start = head
			}
		}
		last = class
	}
	if start >= 0 {
		yield(s[start:])
	}
}

// fold brings a word to the form in which terms are compared. It is empty for
// a connector.
func fold(word string) string {
	word = strings.ToLower(word)
	if len(word) > maxTermBytes {
		cut := maxTermBytes
		for cut > 0 && !utf8.RuneStart(word[cut]) {
			cut--
		}
		word = word[:cut]
	}
	if connector(word) {
		return ""
	}
	return singular(word)
}

// connector reports whether a word joins others and says nothing of its own.
func connector(word string) bool {
	switch word {
	case "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be",
		"been", "but", "by", "can", "could", "did", "do", "does", "for", "from",
		"get", "had", "has", "have", "help", "how", "i", "if", "in", "into", "is",
		"it", "its", "like", "me", "my", "need", "of", "on", "or", "our", "please",
		"s", "should", "so", "some", "t", "than", "that", "the", "their", "them",
		"then", "there", "these", "they", "this", "those", "to", "using", "want",
		"was", "we", "were", "what", "when", "where", "which", "who", "will",
		"with", "would", "you", "your":
		return true
	}
	return false
}

// singular strips the plural endings of English words, so that "files" finds
// "file". Both sides of a comparison pass through it, so a form that is not
// a word does no harm.
func singular(word string) string {
	n := len(word)
	switch {
	case n < 4 || word[n-1] != 's':
		return word
	case strings.HasSuffix(word, "ies"):
		return word[:n-3] + "y"
	case strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"),
		strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"):
		return word[:n-2]
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	}
	return word[:n-1]
}
