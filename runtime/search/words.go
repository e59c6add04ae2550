package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
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
	// syllable of a script that is written without spaces, or whose words grow
	// endings that no rule here knows: each is a word, and pairs of them are
	// what tells texts apart.
	syllable
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
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), r == 'ー':
		return syllable
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return separator
}

// syllabic tells the tokens of scripts that are split at every character.
func syllabic(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return classOf(r) == syllable
}

// term is one word as it is compared.
type term struct {
	// stem is by Snowball's English rules of word, which is in lower case and
	// without a plural ending. A stem joins "directory" with "directories" and
	// "calculate" with "calculation"; the word tells the last two apart.
	stem, word string
	// first in its sentence: it makes no pair with the one before.
	first bool
}

// words calls yield for every word of s that is no connector, folded; where s
// holds nothing else, for the connectors: "get" may be all of a name, and all
// that is asked.
func words(s string, yield func(word string, first bool)) {
	none := true
	split(s, func(word string, first bool) bool {
		if connector(word) {
			return false
		}
		none = false
		yield(singular(word), first)
		return true
	})
	if none {
		split(s, func(word string, first bool) bool {
			yield(singular(word), first)
			return true
		})
	}
}

// split calls yield for every word of s in lower case, which returns whether it
// took it: first is the first one taken in a sentence. It splits at punctuation,
// at the edges of digit runs and where case says that a word starts (readMany,
// HTTPServer), and reads s once.
func split(s string, yield func(word string, first bool) bool) {
	first := true
	emit := func(word string) {
		if yield(lowered(word), first) {
			first = false
		}
	}
	start := -1 // of the word being read
	var last charClass
	for i, r := range s {
		class := classOf(r)
		switch {
		case class == separator:
			if start >= 0 {
				emit(s[start:i])
			}
			start = -1
			first = first || endsSentence(s, i)
		case class == syllable, last == syllable && start >= 0:
			if start >= 0 {
				emit(s[start:i])
			}
			start = i
		case start < 0:
			start = i
		case (class == digit) != (last == digit), class == upper && last == lower:
			emit(s[start:i])
			start = i
		case class == lower && last == upper:
			// HTTPServer: the last capital belongs to the word it begins.
			_, size := utf8.DecodeLastRuneInString(s[start:i])
			if head := i - size; head > start {
				emit(s[start:head])
				start = head
			}
		}
		last = class
	}
	if start >= 0 {
		emit(s[start:])
	}
}

// endsSentence tells a full stop from the dot of a name: space follows it.
func endsSentence(s string, i int) bool {
	switch s[i] {
	case '.', '?', '!', ';', '|', '\n':
		return i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n'
	}
	return false
}

// terms are the words of s with their stems.
func terms(s string) []term {
	var out []term
	words(s, func(word string, first bool) { out = append(out, term{stem(word), word, first}) })
	return out
}

// lowered is a word in lower case, cut to maxTermBytes.
func lowered(word string) string {
	word = strings.ToLower(word)
	if len(word) > maxTermBytes {
		cut := maxTermBytes
		for cut > 0 && !utf8.RuneStart(word[cut]) {
			cut--
		}
		word = word[:cut]
	}
	return word
}

func stem(word string) string {
	if s := english.Stem(word, true); s != "" {
		return s
	}
	return word
}

// connector reports whether a word joins others, or is what people say around
// what they ask for: it says nothing of a capability.
func connector(word string) bool {
	switch word {
	case "a", "able", "about", "above", "additionally", "after", "again", "against",
		"all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
		"because", "been", "before", "being", "below", "between", "both", "but", "by",
		"can", "could", "d", "did", "do", "does", "doing", "don", "down",
		"during", "each", "few", "finally", "firstly", "for", "from", "further",
		"furthermore", "get", "give", "had", "has", "have", "having", "he", "hello",
		"help", "her", "here", "hers", "herself", "hey", "hi", "him", "himself", "his",
		"how", "i", "if", "in", "interested", "into", "is", "it", "its", "itself",
		"just", "know", "lastly", "let", "like", "ll", "looking", "m", "me", "more",
		"moreover", "most", "my", "myself", "need", "no", "nor", "not", "now", "of",
		"off", "on", "once", "only", "or", "other", "our", "ours", "ourselves", "out",
		"over", "own", "please", "provide", "re", "s", "same", "she",
		"should", "show", "so", "some", "such", "t", "tell", "than", "thank", "thanks",
		"that", "the", "their", "theirs", "them", "themselves", "then", "there",
		"these", "they", "this", "those", "through", "to", "too", "under", "until",
		"up", "us", "use", "using", "ve", "very", "want", "was", "we", "were", "what",
		"when", "where", "which", "while", "who", "whom", "why", "will", "with",
		"would", "you", "your", "yours", "yourself", "yourselves":
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
