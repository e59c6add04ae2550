package worker_test

// hostArgument makes the test binary a host that runs an endless program; see
// the Unix tests.
const hostArgument = "capgen-test-host"
