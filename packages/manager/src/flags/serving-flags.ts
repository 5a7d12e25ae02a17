/** Contract: docs/behaviour/runtime/manager.md, Flags. */
import { group } from './flag-group.ts'
import type { FlagGroup } from './flag-group.ts'

export const servingFlags: readonly FlagGroup[] = [
  group('Secure serving', [
    ['bind-address', 'ip', '0.0.0.0', 'Address to listen on.'],
    [
      'cert-dir',
      'string',
      '',
      'Folder of kube-controller-manager.crt and .key, written when absent; empty: made in memory. Unused with --tls-cert-file.',
    ],
    ['disable-http2-serving', 'bool', 'false', 'Serve HTTP/1.1 only.'],
    [
      'http2-max-streams-per-connection',
      'int64',
      '0',
      'Streams per HTTP/2 connection; 0 means 100.',
    ],
    [
      'permit-address-sharing',
      'bool',
      'false',
      'SO_REUSEADDR on the port.',
      'always set by the runtime',
    ],
    [
      'permit-port-sharing',
      'bool',
      'false',
      'SO_REUSEPORT on the port.',
      'not offered by the runtime',
    ],
    ['secure-port', 'int64', '10257', 'HTTPS port; 0 serves nothing.'],
    ['tls-cert-file', 'string', '', 'PEM certificate of the HTTPS server.'],
    [
      'tls-cipher-suites',
      'strings',
      '',
      'TLS 1.2 cipher suites by their IANA names, in order of preference; those of TLS 1.3 cannot be chosen.',
    ],
    [
      'tls-curve-preferences',
      'integers',
      '',
      'Key exchange curves by number, in order of preference: 23 P256, 24 P384, 25 P521, 29 X25519, 4588 X25519MLKEM768.',
    ],
    [
      'tls-min-version',
      'string',
      '',
      'Lowest TLS version: VersionTLS10, VersionTLS11, VersionTLS12 (default) or VersionTLS13.',
    ],
    ['tls-private-key-file', 'string', '', 'PEM key of the HTTPS server.'],
    [
      'tls-sni-cert-key',
      'namedCertKey',
      '',
      'A further certificate for clients that ask for its names: cert,key, or cert,key:*.example.com,example.com for other names. One use for each.',
    ],
  ]),
  group('Authentication', [
    [
      'authentication-kubeconfig',
      'string',
      '',
      'Kubeconfig for TokenReviews; empty: all requests are anonymous.',
    ],
    [
      'authentication-skip-lookup',
      'bool',
      'false',
      'Do not read authentication settings from the cluster.',
    ],
    ['authentication-tolerate-lookup-failure', 'bool', 'false', 'Go on when they cannot be read.'],
    [
      'authentication-token-webhook-cache-ttl',
      'duration',
      '10s',
      'How long answers of TokenReviews are kept.',
    ],
    ['client-ca-file', 'string', '', 'CA of client certificates.'],
    ['requestheader-allowed-names', 'strings', '', 'Common names of front proxies; empty: any.'],
    ['requestheader-client-ca-file', 'string', '', 'CA of front proxies.'],
    [
      'requestheader-extra-headers-prefix',
      'strings',
      'x-remote-extra-',
      'Prefixes of headers with extras.',
    ],
    ['requestheader-group-headers', 'strings', 'x-remote-group', 'Headers with groups.'],
    ['requestheader-uid-headers', 'strings', '', 'Headers with the uid.'],
    ['requestheader-username-headers', 'strings', 'x-remote-user', 'Headers with the user name.'],
  ]),
  group('Authorization', [
    [
      'authorization-always-allow-paths',
      'strings',
      '/healthz,/readyz,/livez',
      'Paths served without authorization; * at the end only.',
    ],
    [
      'authorization-kubeconfig',
      'string',
      '',
      'Kubeconfig for SubjectAccessReviews; empty: only always-allowed paths are served.',
    ],
    [
      'authorization-webhook-cache-authorized-ttl',
      'duration',
      '10s',
      'How long positive answers are kept.',
    ],
    [
      'authorization-webhook-cache-unauthorized-ttl',
      'duration',
      '10s',
      'How long negative answers are kept.',
    ],
  ]),
]
