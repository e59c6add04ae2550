package binding

// Bounds of what ParseCapability and ParseTable accept. They stop a broken or
// hostile table early; the generator stays far below them.
const (
	// MaxNesting is how many arrays and objects a shape may be inside.
	MaxNesting = 64
	// MaxFields is how many members one object may have.
	MaxFields = 256
	// MaxTypes is how many named shapes one capability may have.
	MaxTypes = 10_000
	// MaxVariants is how many variants one union may have.
	MaxVariants = 64
	// MaxEnum is how many strings one enum may have.
	MaxEnum = 10_000
	// MaxTableEntries is how many capabilities a table may have.
	MaxTableEntries = 10_000

	maxNameBytes      = 64        // of a capability's name
	maxWas            = 16        // old names of a capability
	maxIDBytes        = 256       // of a capability's id
	maxFieldName      = 256       // of a field's name
	maxText           = 1_048_576 // of an enum value, pattern or default
	maxNumberText     = 64        // of a decimal text
	maxBinding        = 8 << 20   // of one capability's JSON
	maxDefaultNesting = 64
)
