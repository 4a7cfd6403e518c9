# Debian packages by CPack: `torchwatch` with the service, and `torchwatch-worker`, which is compiled with Debian's LibTorch.
# deploy/debian/build makes them.
set(systemd ${PROJECT_SOURCE_DIR}/deploy/systemd)
set(examples ${CMAKE_INSTALL_DATAROOTDIR}/doc/torchwatch/examples)
# The unit starts /usr/bin/torchwatch, so an installation elsewhere has none.
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  install(FILES ${systemd}/torchwatch.service DESTINATION lib/systemd/system)
  install(FILES ${systemd}/torchwatch.sysusers DESTINATION lib/sysusers.d RENAME torchwatch.conf)
  install(FILES ${systemd}/torchwatch.tmpfiles DESTINATION lib/tmpfiles.d RENAME torchwatch.conf)
endif()
install(FILES deploy/completion/torchwatch DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
install(FILES config/example.json config/torchwatch.schema.json ${systemd}/gpu.conf DESTINATION ${examples})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/torchwatch RENAME copyright)
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/torchwatch)
if(TORCHWATCH_WORKER)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/torchwatch-worker RENAME copyright
    COMPONENT worker)
endif()

set(TORCHWATCH_PACKAGE_REVISION 1 CACHE STRING "Debian revision of the packages, as in 1.0.0-1")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME torchwatch)
set(CPACK_PACKAGE_VENDOR torchwatch)
set(CPACK_PACKAGE_CONTACT "torchwatch maintainers <torchwatch@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL service)
if(TORCHWATCH_WORKER)
  list(APPEND CPACK_COMPONENTS_ALL worker)
endif()

set(CPACK_DEBIAN_PACKAGE_RELEASE ${TORCHWATCH_PACKAGE_REVISION})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SERVICE_PACKAGE_NAME torchwatch)
set(CPACK_DEBIAN_SERVICE_DESCRIPTION "finds performance regressions in PyTorch nightlies
A service that measures each nightly build of PyTorch next to the previous
one, bisects regressions to the commit that caused them, and reports them.")
set(CPACK_DEBIAN_SERVICE_PACKAGE_DEPENDS "bubblewrap, ca-certificates, git, init-system-helpers, \
systemd | systemd-standalone-sysusers | opensysusers, systemd | systemd-standalone-tmpfiles | opentmpfiles")
# Downloaded nightlies need a worker that is compiled with their headers.
set(CPACK_DEBIAN_SERVICE_PACKAGE_RECOMMENDS "g++, cmake (>= 3.25), ninja-build, nlohmann-json3-dev")
set(CPACK_DEBIAN_SERVICE_PACKAGE_SUGGESTS "torchwatch-worker, ccache, python3, slurm-client")
set(CPACK_DEBIAN_SERVICE_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/deploy/debian/postinst
  ${PROJECT_SOURCE_DIR}/deploy/debian/prerm
  ${PROJECT_SOURCE_DIR}/deploy/debian/postrm)

set(CPACK_DEBIAN_WORKER_PACKAGE_NAME torchwatch-worker)
set(CPACK_DEBIAN_WORKER_DESCRIPTION "torchwatch's worker for Debian's PyTorch
Measures the models of the TorchBench paper with the LibTorch of this Debian.
The service needs it for builds that have no worker of their own.")
set(CPACK_DEBIAN_WORKER_PACKAGE_SUGGESTS torchwatch)

include(CPack)
