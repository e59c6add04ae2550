package canon

// Wire writes a value that is wire bytes already, as a wire Writer wrote them
// and a Reader has read them to their end: they are not checked again. A
// canonical writer refuses it.
func (w *Writer) Wire(value []byte) {
	if !w.value(len(value)) {
		return
	}
	if !w.wire || len(value) == 0 {
		w.fail(CodeSyntax, "encoder error: no wire value for this writer")
		return
	}
	w.buf = append(w.buf, value...)
}
