//! The hands: tools that an agent may use, confined to a workspace.
