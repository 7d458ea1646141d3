package harness

// The result line that a case leaves behind, and how its name and its reason are worded.

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
)

// result is one line of the results file; the field names are the contract with whoever reads it.
type result struct {
	Suite     string `json:"suite"`
	Operation string `json:"operation"`
	Case      string `json:"case"`
	Outcome   string `json:"outcome"`
	Detail    string `json:"detail"`
}

func report(t *T, operation string) {
	path := os.Getenv("CONFORMANCE_RESULTS")
	if path == "" {
		return
	}
	line, err := json.Marshal(result{"go", operation, caseName(t.Name()), outcome(t), strings.Join(t.details, "; ")})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

func outcome(t *T) string {
	switch {
	case t.Failed():
		return "failed"
	case t.Skipped():
		return "skipped"
	default:
		return "passed"
	}
}

var wordStarts = []*regexp.Regexp{
	regexp.MustCompile(`([a-z])([A-Z0-9])`),
	regexp.MustCompile(`([A-Z0-9])([A-Z][a-z])`),
}

func caseName(test string) string {
	function, variant, _ := strings.Cut(strings.TrimPrefix(test, "Test"), "/")
	for _, start := range wordStarts {
		function = start.ReplaceAllString(function, "${1}_$2")
	}
	return strings.TrimSuffix(strings.ToLower(function+"_"+variant), "_")
}

var (
	assertionText = regexp.MustCompile(`(?s)Error:\s+(.*?)\s+(?:Diff:|Test:)`)
	assertionNote = regexp.MustCompile(`(?s)Messages:\s+(.*)`)
)

const detailLengthMax = 400

// summary is an assertion's text on one line, without the stack that testify puts before it.
func summary(text string) string {
	var parts []string
	for _, part := range []*regexp.Regexp{assertionNote, assertionText} {
		if found := part.FindStringSubmatch(text); found != nil {
			parts = append(parts, found[1])
		}
	}
	if parts == nil {
		parts = []string{text}
	}
	line := []rune(strings.Join(strings.Fields(strings.Join(parts, ": ")), " "))
	return string(line[:min(len(line), detailLengthMax)])
}
