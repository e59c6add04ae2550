// Package search ranks capabilities for a query in words. It must never know
// who asks, what a capability does when it is called, or how an answer is
// packed for a client.
//
// [Analyze] turns the texts of a capability into terms; capgen does so when it
// generates code, so that a build holds terms and a pull request shows them.
// An [Index] is built once from the enabled set and never changes:
//
//	x := search.New([]search.Document{{
//		Name: "files.read",
//		Entry: search.Analyze(search.Texts{
//			Name:    "files.read",
//			Summary: "Read parts of files.",
//			Phrases: []string{"show the content of a file"},
//		}),
//	}})
//	for _, hit := range x.Search("how do I read a file", search.Options{Max: 10}) {
//		fmt.Println(hit.Document, hit.Score) // 0 and a positive score
//	}
//
// The score is BM25F (Robertson, Zaragoza: The Probabilistic Relevance
// Framework, 2009, section 3.6): each term counts once for an entry, however
// many fields hold it, with fields weighted before saturation. Terms are stems,
// and beside them the words as they were written and pairs of adjacent stems.
// How much of an entry's name and summary a query holds raises its score.
package search
