//! Servers of other makers: the LiteLLM proxy in front of the strict server of these tests, and llama-cpp-python with a tiny model of
//! random numbers. And the libraries of model providers, with whose types ours are compared.
//!
//! `cargo xtask test --with-servers` installs them and runs these tests. The ordinary run leaves them out and does not count them.

mod servers {
    mod litellm;
    mod llama;
    mod program;
    mod published;
}
