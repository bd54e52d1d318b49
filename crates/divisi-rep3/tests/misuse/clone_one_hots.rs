//! [E0277] A one-hot vector cannot be copied.
use divisi_rep3::ohverture::OneHotsRss;

fn copy(e: &OneHotsRss) -> OneHotsRss {
    OneHotsRss::clone(e)
}

fn main() {}
