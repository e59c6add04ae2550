package oracle

import (
	"math"
	"reflect"
)

// Same tells whether two values are the same bit for bit: of floats that −0 is
// not 0, of the rest what reflect.DeepEqual says.
func Same(a, b any) bool {
	return reflect.DeepEqual(a, b) && sameFloats(reflect.ValueOf(a), reflect.ValueOf(b))
}

// sameFloats compares the floats in values that are deeply equal.
func sameFloats(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.Pointer, reflect.Interface:
		return a.IsNil() || sameFloats(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameFloats(a.Field(i), b.Field(i)) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range a.Len() {
			if !sameFloats(a.Index(i), b.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			if !sameFloats(a.MapIndex(key), b.MapIndex(key)) {
				return false
			}
		}
	}
	return true
}
