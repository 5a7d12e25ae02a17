/** Flags of kube-apiserver 1.36 that the embedded server takes and does nothing with. Pure. */
import type { FlagDefinition, FlagType } from '@gyropilot/manager/flags'

type Names = Readonly<Partial<Record<FlagType, string>>>

/** How etcd is reached, how much is kept ready, how logs look: no answer of the server changes. */
const WITHOUT_MEANING: Names = {
  string: `etcd-cafile etcd-certfile etcd-keyfile etcd-prefix storage-backend storage-media-type external-hostname
    audit-log-format audit-log-mode audit-log-version audit-webhook-mode audit-webhook-version tls-min-version
    debug-socket-path log-json-info-buffer-size log-text-info-buffer-size logging-format vmodule endpoint-reconciler-type
    kubelet-certificate-authority kubelet-client-certificate kubelet-client-key peer-advertise-ip peer-advertise-port
    peer-ca-file authentication-token-webhook-version authorization-webhook-version allow-metric-labels-manifest
    show-hidden-metrics-for-version`,
  strings: `etcd-servers-overrides watch-cache-sizes tls-cipher-suites tls-curve-preferences kubelet-preferred-address-types
    disabled-metrics strict-transport-security-directives min-compatibility-version`,
  bool: `watch-cache enable-garbage-collector contention-profiling profiling permit-address-sharing permit-port-sharing
    audit-log-batch-throttle-enable audit-log-compress audit-log-truncate-enabled audit-webhook-batch-throttle-enable
    audit-webhook-truncate-enabled enable-priority-and-fairness enable-bootstrap-token-auth log-json-split-stream
    log-text-split-stream aggregator-reject-forwarding-redirect allow-privileged enable-aggregator-routing
    enable-logs-handler emulation-forward-compatible runtime-config-emulation-forward-compatible
    send-retry-after-while-not-ready-once shutdown-send-retry-after service-account-lookup
    encryption-provider-config-automatic-reload`,
  int: `delete-collection-workers lease-reuse-duration-seconds http2-max-streams-per-connection audit-log-batch-buffer-size
    audit-log-batch-max-size audit-log-batch-throttle-burst audit-log-maxage audit-log-maxbackup audit-log-maxsize
    audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-webhook-batch-buffer-size
    audit-webhook-batch-max-size audit-webhook-batch-throttle-burst audit-webhook-truncate-max-batch-size
    audit-webhook-truncate-max-event-size max-connection-bytes-per-sec`,
  float: 'goaway-chance audit-log-batch-throttle-qps audit-webhook-batch-throttle-qps',
  duration: `etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout
    etcd-readycheck-timeout livez-grace-period shutdown-delay-duration shutdown-watch-termination-grace-period
    storage-initialization-timeout audit-log-batch-max-wait audit-webhook-batch-max-wait audit-webhook-initial-backoff
    authentication-token-webhook-cache-ttl authorization-webhook-cache-authorized-ttl
    authorization-webhook-cache-unauthorized-ttl log-flush-frequency kubelet-timeout coordinated-leadership-lease-duration
    coordinated-leadership-renew-deadline coordinated-leadership-retry-period`,
  stringToString: 'allow-metric-labels',
}

/** What they ask for would be seen from outside, and is not built: who sets one is told. */
const NOT_BUILT: Names = {
  string: `encryption-provider-config audit-log-path audit-policy-file audit-webhook-config-file authentication-config
    authentication-token-webhook-config-file oidc-ca-file oidc-client-id oidc-groups-claim oidc-groups-prefix
    oidc-issuer-url oidc-username-claim oidc-username-prefix service-account-jwks-uri service-account-signing-endpoint
    authorization-config authorization-policy-file authorization-webhook-config-file egress-selector-config-file
    admission-control-config-file tracing-config-file service-node-port-range`,
  strings: `cors-allowed-origins emulated-version oidc-signing-algs requestheader-extra-headers-prefix
    requestheader-group-headers requestheader-uid-headers requestheader-username-headers admission-control`,
  bool: 'disable-http2-serving service-account-extend-token-expiration',
  int: `min-request-timeout default-not-ready-toleration-seconds default-unreachable-toleration-seconds
    kubernetes-service-node-port`,
  duration: 'request-timeout event-ttl service-account-max-token-expiration',
  namedCertKey: 'tls-sni-cert-key',
  stringToString: 'oidc-required-claim',
}

const DEFAULTS: Partial<Readonly<Record<FlagType, string>>> = {
  bool: 'false',
  int: '0',
  float: '0',
  duration: '0s',
}

function definitions(names: Names, help: string): readonly FlagDefinition[] {
  return (Object.entries(names) as [FlagType, string][]).flatMap(([type, list]) =>
    list.split(/\s+/).map((name) => ({ name, type, default: DEFAULTS[type] ?? '', help })),
  )
}

export const meaninglessFlags = definitions(WITHOUT_MEANING, 'Accepted; means nothing here.')

export const unbuiltFlags = definitions(NOT_BUILT, 'Accepted with a warning; not built here.')
