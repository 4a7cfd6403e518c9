#include "tests/fakes/github/certificates.h"

#include <memory>
#include <stdexcept>

#include <boost/asio/ip/address.hpp>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace torchwatch::fakes {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using File = std::unique_ptr<BIO, Freed<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

void require(bool done, std::string const& what) {
  if (!done) throw std::runtime_error("certificates: cannot " + what);
}

Key make_key() {
  Key key{EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")};
  require(key != nullptr, "make a key");
  return key;
}

void add_extension(X509& certificate, X509& issuer, int kind, std::string const& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  Extension const extension{X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
  require(extension && X509_add_ext(&certificate, extension.get(), -1) == 1, "add " + value);
}

Certificate make_certificate(EVP_PKEY& key, std::string const& name, long serial) {
  Certificate certificate{X509_new()};
  require(certificate != nullptr, "make a certificate");
  constexpr long hour = 3600;
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -hour);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 365L * 24 * hour);
  X509_set_pubkey(certificate.get(), &key);
  std::vector<unsigned char> const text{name.begin(), name.end()};
  auto* const subject = X509_get_subject_name(certificate.get());
  require(X509_NAME_add_entry_by_txt(
              subject, "CN", MBSTRING_UTF8, text.data(), static_cast<int>(text.size()), -1, 0) == 1,
          "name a certificate");
  return certificate;
}

void sign(X509& certificate, X509& issuer, EVP_PKEY& key) {
  require(X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer)) == 1 &&
              X509_sign(&certificate, &key, EVP_sha256()) > 0,
          "sign a certificate");
}

std::string alternative_names(std::vector<std::string> const& names) {
  std::string list;
  for (auto const& name : names) {
    boost::system::error_code is_name;
    boost::asio::ip::make_address(name, is_name);
    if (!list.empty()) list += ",";
    list.append(is_name ? "DNS:" : "IP:").append(name);
  }
  return list;
}

std::string text_in(BIO* memory) {
  char* text = nullptr;
  auto const length = BIO_get_mem_data(memory, &text);
  return {text, static_cast<std::size_t>(length)};
}

template <class Write>
void write_file(std::filesystem::path const& path, Write write) {
  File const file{BIO_new_file(path.c_str(), "wb")};
  require(file && write(file.get()) == 1 && BIO_flush(file.get()) == 1, "write " + path.string());
}

}  // namespace

ServerIdentity make_identity(std::filesystem::path const& folder,
                             std::vector<std::string> const& names) {
  auto const ca_key = make_key();
  auto const ca = make_certificate(*ca_key, "fake GitHub authority", 1);
  add_extension(*ca, *ca, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(*ca, *ca, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(*ca, *ca, NID_subject_key_identifier, "hash");
  sign(*ca, *ca, *ca_key);

  auto const server_key = make_key();
  auto const server = make_certificate(*server_key, "fake GitHub", 2);
  add_extension(*server, *ca, NID_subject_alt_name, alternative_names(names));
  add_extension(*server, *ca, NID_ext_key_usage, "serverAuth");
  add_extension(*server, *ca, NID_authority_key_identifier, "keyid");
  sign(*server, *ca, *ca_key);

  std::filesystem::create_directories(folder);
  ServerIdentity identity{folder / "ca.pem", folder / "server.pem", folder / "server.key"};
  write_file(identity.ca, [&](BIO* file) { return PEM_write_bio_X509(file, ca.get()); });
  write_file(identity.certificate,
             [&](BIO* file) { return PEM_write_bio_X509(file, server.get()); });
  write_file(identity.key, [&](BIO* file) {
    return PEM_write_bio_PrivateKey(file, server_key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return identity;
}

AppKey make_app_key() {
  Key const key{EVP_RSA_gen(2048)};
  File const secret{BIO_new(BIO_s_mem())};
  File const open{BIO_new(BIO_s_mem())};
  require(key && secret && open &&
              PEM_write_bio_PrivateKey_traditional(
                  secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1 &&
              PEM_write_bio_PUBKEY(open.get(), key.get()) == 1,
          "make a key of an App");
  return {text_in(secret.get()), text_in(open.get())};
}

boost::asio::ssl::context context_of(ServerIdentity const& identity) {
  namespace ssl = boost::asio::ssl;
  ssl::context context{ssl::context::tls_server};
  context.use_certificate_chain_file(identity.certificate.string());
  context.use_private_key_file(identity.key.string(), ssl::context::pem);
  return context;
}

}  // namespace torchwatch::fakes
