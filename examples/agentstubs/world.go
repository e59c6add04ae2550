package main

import (
	"context"
	"fmt"

	"github.com/capgen/capgen/examples/agentstubs/generated/cal"
	"github.com/capgen/capgen/examples/agentstubs/generated/catalog"
	"github.com/capgen/capgen/examples/agentstubs/generated/email"
	"github.com/capgen/capgen/examples/agentstubs/generated/files"
	"github.com/capgen/capgen/examples/agentstubs/generated/github"
	"github.com/capgen/capgen/examples/agentstubs/generated/logs"
	"github.com/capgen/capgen/examples/agentstubs/generated/slack"
	"github.com/capgen/capgen/examples/agentstubs/generated/types"
	"github.com/capgen/capgen/examples/agentstubs/generated/weather"
	"github.com/capgen/capgen/examples/agentstubs/generated/web"
	"github.com/capgen/capgen/runtime"
)

func handlers() catalog.Handlers {
	return catalog.Handlers{
		Cal: calendar{}, Db: tables{}, Email: mail{}, Files: disk{}, Github: forge{}, Hr: company{}, Logs: journal{},
		Orders: sales{}, Records: tables{}, Slack: chat{}, Stocks: tables{}, Tickets: tables{}, Weather: sky{}, Web: net{},
	}
}

type sky struct{}

func (sky) Get(_ context.Context, in weather.GetInput) (weather.GetOutput, error) {
	temp := 20.0
	switch in.City {
	case "London":
		temp = 11.5
	case "Paris":
		temp = 14.25
	case "Tokyo":
		temp = 19
	}
	return weather.GetOutput{City: in.City, Temp: temp, Conditions: "rain"}, nil
}

func (sky) Latlng(context.Context, weather.LatlngInput) (weather.LatlngOutput, error) {
	return weather.LatlngOutput{Lat: 1, Lng: 2}, nil
}

func (sky) Temp(context.Context, weather.TempInput) (weather.TempOutput, error) { return 21.4, nil }

type forge struct{}

func (forge) ListPrs(_ context.Context, in github.ListPrsInput) (out github.ListPrsOutput, err error) {
	const lastPage = 2
	if in.Page > lastPage {
		return nil, nil
	}
	for i := range int64(3) {
		out = append(out, types.PullRequest{
			Number: in.Page*10 + i, Title: fmt.Sprintf("Fix bug %d", i),
			User:   types.PullRequestUser{Login: fmt.Sprintf("u%d", i%2)},
			Labels: []types.PullRequestLabelsItem{{Name: "bug"}},
			Draft:  i == 1, Comments: i * 3,
		})
	}
	return out, nil
}

func (forge) CloseIssue(_ context.Context, in github.CloseIssueInput) (github.CloseIssueOutput, error) {
	return github.CloseIssueOutput{Number: in.Number, State: "closed"}, nil
}

type net struct{}

func (net) Search(_ context.Context, in web.SearchInput) (out web.SearchOutput, err error) {
	for i := range in.Limit {
		lost := 0.2 * float64(i) // rounded here, as every machine must
		out.Results = append(out.Results, web.SearchOutputResultsItem{
			Title: fmt.Sprintf("T%d %s", i, in.Query), URL: fmt.Sprintf("https://e.x/%d", i), Score: 0.9 - float64(lost),
		})
	}
	return out, nil
}

func (net) Fetch(context.Context, web.FetchInput) (web.FetchOutput, error) {
	return "Population: 1,234,567 as of 2024.\nArea: 100 km2\n# comment\n\nvisit https://a.b/c", nil
}

type mail struct{}

func (mail) Send(_ context.Context, in email.SendInput) (email.SendOutput, error) {
	return email.SendOutput{Sent: true, To: in.To}, nil
}

type chat struct{}

func (chat) Post(context.Context, slack.PostInput) (slack.PostOutput, error) {
	return slack.PostOutput{Ok: true, Ts: "1"}, nil
}

type disk struct{}

func (disk) Read(context.Context, files.ReadInput) (files.ReadOutput, error) {
	return `{"a": [1, 2, {"b": null}], "status": "ok"}`, nil
}

type calendar struct{}

func (calendar) Events(context.Context, cal.EventsInput) (cal.EventsOutput, error) {
	return cal.EventsOutput{
		{Start: "09:00", End: "09:30", Title: "standup"},
		{Start: "11:00", End: "12:30", Title: "review"},
	}, nil
}

type journal struct{}

func (journal) Get(_ context.Context, in logs.GetInput) (out logs.GetOutput, err error) {
	switch {
	case !in.Cursor.Valid:
		out.Next = some("p2")
	case in.Cursor.Value == "p2":
		out.Next = some("p3")
	case in.Cursor.Value != "p3":
		return out, runtime.Disclose("no_page", "no page has this cursor")
	}
	out.Lines = []string{"2026-01-01 ERROR db timeout", "2026-01-01 WARN slow"}
	return out, nil
}
