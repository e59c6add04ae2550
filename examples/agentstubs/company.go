package main

import (
	"context"
	"strconv"

	"github.com/capgen/capgen/examples/agentstubs/generated/db"
	"github.com/capgen/capgen/examples/agentstubs/generated/hr"
	"github.com/capgen/capgen/examples/agentstubs/generated/orders"
	"github.com/capgen/capgen/examples/agentstubs/generated/records"
	"github.com/capgen/capgen/examples/agentstubs/generated/stocks"
	"github.com/capgen/capgen/examples/agentstubs/generated/tickets"
	"github.com/capgen/capgen/examples/agentstubs/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// company answers what a company knows of itself.
type company struct{}

func people() []types.Person {
	return []types.Person{
		{ID: 1, Name: "Ada", Team: "eng", Level: 4, Email: some("ada@x.io")},
		{ID: 2, Name: "Bob", Team: "ops", Level: 2, Email: some("bob@x.io"), Manager: some(int64(1))},
		{ID: 3, Name: "Cy", Team: "eng", Level: 3, Manager: some(int64(1))},
	}
}

func some[T any](v T) canon.Nullable[T] { return canon.Nullable[T]{Valid: true, Value: v} }

func (company) ListPeople(_ context.Context, in hr.ListPeopleInput) (out hr.ListPeopleOutput, err error) {
	for _, p := range people() {
		if !in.Team.Valid || p.Team == in.Team.Value {
			out = append(out, p)
		}
	}
	return out, nil
}

func (company) GetPerson(_ context.Context, in hr.GetPersonInput) (types.Person, error) {
	for _, p := range people() {
		if p.ID == in.ID {
			return p, nil
		}
	}
	return types.Person{}, runtime.Disclose("no_person", "nobody has this id")
}

func (company) GetExpenses(_ context.Context, in hr.GetExpensesInput) (hr.GetExpensesOutput, error) {
	travel, err := canon.ParseOpaque(strconv.AppendInt(nil, 100*in.PersonID, 10))
	return hr.GetExpensesOutput{
		{Amount: travel, Category: "travel"},
		{Amount: canon.MustOpaque("50.5"), Category: "meals"},
	}, err
}

func (company) GetBudget(_ context.Context, in hr.GetBudgetInput) (hr.GetBudgetOutput, error) {
	return hr.GetBudgetOutput{Limit: 200 * in.Level}, nil
}

// sales answers the namespaces of orders.
type sales struct{}

func allOrders() []types.Order {
	return []types.Order{
		{ID: "o1", Total: 120.5, Status: "open", Customer: "c1", Items: []types.OrderItemsItem{{Sku: "a", Qty: 2}, {Sku: "b", Qty: 1}}, Created: "2026-01-03"},
		{ID: "o2", Total: 80.25, Status: "closed", Customer: "c2", Items: []types.OrderItemsItem{{Sku: "a", Qty: 1}}, Created: "2026-02-10"},
		{ID: "o3", Total: 310, Status: "open", Customer: "c1", Created: "2026-03-21"},
	}
}

func (sales) List(_ context.Context, in orders.ListInput) (out orders.ListOutput, err error) {
	for _, o := range allOrders() {
		if !in.Status.Valid || o.Status == in.Status.Value {
			out = append(out, o)
		}
	}
	return out, nil
}

func (sales) Get(_ context.Context, in orders.GetInput) (types.Order, error) {
	for _, o := range allOrders() {
		if o.ID == in.ID {
			return o, nil
		}
	}
	return types.Order{}, runtime.Disclose("no_order", "no order has this id")
}

// tables answers what stands in tables.
type tables struct{}

func (tables) Query(context.Context, db.QueryInput) (db.QueryOutput, error) {
	row := func(region db.QueryOutputRowsItemItemString, revenue db.QueryOutputRowsItemItemNumber) []db.QueryOutputRowsItemItem {
		return []db.QueryOutputRowsItemItem{{Value: &region}, {Value: &revenue}}
	}
	return db.QueryOutput{
		Columns: []string{"region", "revenue"},
		Rows:    [][]db.QueryOutputRowsItemItem{row("eu", 10), row("us", 32), row("eu", 5)},
	}, nil
}

func (tables) Lookup(_ context.Context, in records.LookupInput) (out records.LookupOutput, err error) {
	for i := range min(in.Limit, 3) {
		out = append(out, records.LookupOutputItem{Key: in.Key, Value: i})
	}
	return out, nil
}

func (tables) Prices(_ context.Context, in stocks.PricesInput) (out stocks.PricesOutput, err error) {
	for day := range in.Days {
		out = append(out, stocks.PricesOutputItem{Day: day, Close: float64(100 + day*7%5)})
	}
	return out, nil
}

func (tables) Create(_ context.Context, in tickets.CreateInput) (tickets.CreateOutput, error) {
	return tickets.CreateOutput{ID: "T-1", Title: in.Title, Priority: in.Priority}, nil
}
