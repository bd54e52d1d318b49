//! The template of the page, and what stands in it.

pub const TEMPLATE: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Divisi beside the papers</title>\n<style>/*STYLE*/</style></head><body><h1>Divisi beside the papers</h1>\n<!--HEAD-->\n<!--TABLES-->\n<script type=\"application/json\" id=\"report\">/*REPORT*/</script>\n<script>/*UPLOT*/</script><script>/*SCRIPT*/</script></body></html>\n";
pub const STYLE: &str = "";
pub const SCRIPT: &str = "";
pub const UPLOT: &str = "";
pub const UPLOT_STYLE: &str = "";
