"""Tables by what they hold; `runtime.store.schema` knows all of them."""
