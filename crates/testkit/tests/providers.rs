//! The providers over loopback, against a server that is as strict as a provider.

mod providers {
    mod adapting;
    mod cancelling;
    mod failing;
    mod features;
    mod files;
    mod hostile;
    mod secure;
    mod speaking;
    mod stage;
    mod strict;
    mod switching;
    mod taking;
    mod thinking;
}
