package verbs

import "strings"

// Words takes a name apart where case changes and at - _ . / : and space:
// getHTTPStatus, get-http-status and get_http_status are the same three.
// nil for a name with other characters than ASCII letters, digits and these.
func Words(name string) []string {
	var out []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case strings.IndexByte("-_./: ", c) >= 0:
			end()
		case isUpper(c):
			// A capital begins a word unless it goes on with an acronym.
			if i > 0 && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])) {
				end()
			}
			word.WriteByte(c + 'a' - 'A')
		case isLower(c), c >= '0' && c <= '9':
			word.WriteByte(c)
		default:
			return nil
		}
	}
	end()
	return out
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
