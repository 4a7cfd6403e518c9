#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"
#include "tests/api/refusal.h"

namespace torchwatch::tests {
namespace {

std::string const long_text(20'000, 'x');

std::vector<Refusal> const of_http{
    {"NoHttp", "hello\r\n\r\n", 400, "", "bad"},
    {"OtherProtocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "", "version"},
    {"NoHost", "GET /healthz HTTP/1.1\r\n\r\n", 400, "", "Host"},
    {"TwoHosts", with_headers("GET /healthz", "Host: other\r\n"), 400, "", "Host"},
    {"HugeHeaderField", with_headers("GET /healthz", "X: " + long_text + "\r\n"), 431, "", "16384"},
    {"HugeTarget", get("/" + long_text), 431, "", "16384"},
    {"EndlessHeader", "GET /healthz HTTP/1.1\r\nX: " + long_text, 431, "", "16384"},
    {"BlankInFieldName", with_headers("GET /healthz", "X : y\r\n"), 400, "", "bad field"},
    {"ControlCharacter", with_headers("GET /healthz", "X: a\x01z\r\n"), 400, "", "bad value"},
    {"HugeBody",
     with_headers("POST /api/v1/bisections", "Content-Length: 1048577\r\n"),
     413,
     "",
     "1048576"},
    {"HugeChunk",
     with_headers("POST /api/v1/bisections", "Transfer-Encoding: chunked\r\n") + "fffffff\r\n",
     413,
     "",
     "1048576"},
    {"ChunkWithoutSize",
     with_headers("POST /api/v1/bisections", "Transfer-Encoding: chunked\r\n") + "xyz\r\n\r\n",
     400,
     "",
     "chunk"},
    {"ChunkWithoutEnd",
     with_headers("POST /api/v1/bisections", "Transfer-Encoding: chunked\r\n") +
         "3\r\nabcdef\r\n0\r\n\r\n",
     400,
     "",
     "chunk"},
    {"EndlessChunkExtension",
     with_headers("POST /api/v1/bisections", "Transfer-Encoding: chunked\r\n") +
         "1;x=" + std::string(200'000, 'x'),
     431,
     "",
     "16384"},
    {"TwoLengths",
     with_headers("POST /api/v1/bisections", "Content-Length: 2\r\nContent-Length: 3\r\n") + "{}",
     400,
     "",
     "Content-Length"},
    {"NegativeLength",
     with_headers("POST /api/v1/bisections", "Content-Length: -1\r\n"),
     400,
     "",
     "Content-Length"},
    {"LengthAndChunks",
     with_headers("POST /api/v1/bisections",
                  "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") +
         "0\r\n\r\n",
     400,
     "",
     "Transfer-Encoding"},
    {"OtherCoding",
     with_headers("POST /api/v1/bisections", "Transfer-Encoding: gzip\r\n") +
         get("/api/v1/smuggled"),
     501,
     "",
     "chunked"},
    {"CodingBelowChunks",
     with_headers("POST /api/v1/bisections", "Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n",
     501,
     "",
     "chunked"},
};

TEST(HttpRefusals, NameWhatIsWrong) {
  expect_refused(of_http);
}

std::vector<Refusal> const of_routes{
    {"UnknownPath", get("/api/v2/nightlies"), 404},
    {"TrailingSlash", get("/api/v1/nightlies/"), 404},
    {"Traversal", get("/api/v1/nightlies/../../../../etc/passwd"), 404},
    {"EncodedTraversal", get("/%2e%2e/%2e%2e/etc/passwd"), 404},
    {"EncodedSlash", get("/api%2Fv1%2Fnightlies"), 404},
    {"NulInId", get("/api/v1/nightlies/1%00"), 404},
    {"UnknownNightly", get("/api/v1/nightlies/99"), 404, "", "99"},
    {"UnknownIncident", get("/api/v1/incidents/99"), 404},
    {"UnknownBisection", get("/api/v1/bisections/99"), 404},
    {"IdThatIsNoNumber", get("/api/v1/incidents/one"), 404, "", "one"},
    {"IdBeyondAllNumbers", get("/api/v1/incidents/99999999999999999999"), 404},
    {"NegativeId", get("/api/v1/incidents/-1"), 404},
    {"IdThatIsNoText", get("/api/v1/incidents/%ff%fe"), 404},
    {"BadEscape", get("/api/v1/nightlies/%zz"), 400, "", "%zz"},
    {"CutEscape", get("/healthz?a=%4"), 400, "", "%4"},
    {"NoPath", get("healthz"), 400, "", "begins with /"},
    {"UnknownParameter", get("/api/v1/nightlies?page=2"), 400, "page", "limit, offset, before"},
    {"ParameterWhereNoneIs", get("/healthz?verbose"), 400, "verbose", "none"},
    {"LimitZero", get("/api/v1/nightlies?limit=0"), 400, "limit", "from 1 to 500"},
    {"LimitTooLarge", get("/api/v1/incidents?limit=501"), 400, "limit", "found \"501\""},
    {"LimitThatIsNoNumber", get("/api/v1/series?limit=ten"), 400, "limit", "ten"},
    {"NegativeOffset", get("/api/v1/bisections?offset=-1"), 400, "offset", "-1"},
    {"ParameterTwice", get("/api/v1/nightlies?limit=1&limit=2"), 400, "", "twice"},
    {"HistoryWithoutASeries", get("/api/v1/history"), 400, "fleet", "found nothing"},
    {"HistoryInAnUnknownFormat",
     get("/api/v1/history?fleet=local&benchmark=test_train%5Bdlrm-cpu-eager%5D&metric=latency&"
         "format=xml"),
     400,
     "format",
     "xml"},
    {"SeriesByHalf", get("/api/v1/series?fleet=local"), 400, "benchmark", "found nothing"},
    {"SeriesOfNoBenchmark",
     get("/api/v1/series?fleet=local&benchmark=dlrm&metric=latency"),
     400,
     "benchmark",
     "dlrm"},
    {"SeriesOfNoMetric",
     get("/api/v1/series?fleet=local&benchmark=test_train%5Bdlrm-cpu-eager%5D&metric=speed"),
     400,
     "metric",
     "speed"},
    {"SeriesWithoutValues",
     get("/api/v1/series?fleet=other&benchmark=test_train%5Bdlrm-cpu-eager%5D&metric=latency"),
     404,
     "",
     "other"},
    {"PostWhereNoneIs", with_headers("POST /api/v1/nightlies", "Content-Length: 0\r\n"), 405},
    {"Delete", with_headers("DELETE /api/v1/bisections/1", ""), 405, "", "DELETE"},
    {"UnknownMethod", with_headers("BREW /healthz", ""), 405, "", "BREW"},
    {"Trace", with_headers("TRACE /healthz", ""), 405, "", "TRACE"},
};

TEST(RouteRefusals, NameWhatIsWrong) {
  expect_refused(of_routes);
}

TEST(HttpRefusals, NameTheAllowedMethods) {
  LiveApi api;
  EXPECT_EQ(ask(api.port(), with_headers("PUT /api/v1/bisections", "")).headers.at("allow"),
            "GET, HEAD, OPTIONS, POST");
}

TEST(HttpRefusals, GarbageAfterRequestIsRefusedAfterItsResponse) {
  LiveApi api;
  HttpClient client{api.port()};

  client.send(get("/healthz") + "\x16\x03\x01 garbage\r\n\r\n");

  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_TRUE(client.is_hung_up());
}

TEST(HttpRefusals, UnreadBodyIsNotTreatedAsRequest) {
  LiveApi api;
  HttpClient client{api.port()};

  client.send(with_headers("POST /api/v1/bisections", "Transfer-Encoding: gzip\r\n") +
              get("/healthz"));

  EXPECT_EQ(client.receive().status, 501);
  EXPECT_TRUE(client.is_hung_up());
}

}  // namespace
}  // namespace torchwatch::tests
