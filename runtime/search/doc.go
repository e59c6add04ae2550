// Package search ranks capabilities for a query in words. It must never know
// who asks, what a capability does when it is called, or how an answer is
// packed for a client.
//
// An [Index] is built once from the enabled set and never changes:
//
//	x := search.New([]search.Entry{{
//		Name:    "files.read",
//		Summary: "Read parts of files.",
//		Phrases: []string{"show the content of a file"},
//	}})
//	for _, hit := range x.Search("how do I read a file", 20) {
//		fmt.Println(hit.Entry, hit.Score) // 0 and a positive score
//	}
//
// The score is BM25F (Robertson, Zaragoza: The Probabilistic Relevance
// Framework, 2009, section 3.6): each term counts once for an entry, however
// many fields hold it, with fields weighted before saturation.
package search
