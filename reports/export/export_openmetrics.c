#include "reports/export/export.h"
const struct export_format export_openmetrics = {.name = "openmetrics"};
