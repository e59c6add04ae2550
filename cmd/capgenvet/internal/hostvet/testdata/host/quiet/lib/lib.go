// Package lib vouches for what it brings, so that its users need not.
package lib

import _ "example.com/dep/inner"

//capgenvet:dependency example.com/dep/env the token is of tests
