/**
 * The flags of kube-apiserver 1.36 that mean something to the embedded server. Those of `unused-api-server-flags.ts` are
 * accepted too. Names and types are kube-apiserver's. Pure.
 */
import type { FlagDefinition } from '@gyropilot/manager/flags'

export const apiServerFlags: readonly FlagDefinition[] = [
  {
    name: 'advertise-address',
    type: 'string',
    default: '',
    help: 'Address that the Endpoints of the service "kubernetes" show. Default: --bind-address, or 127.0.0.1.',
  },
  {
    name: 'anonymous-auth',
    type: 'bool',
    default: 'true',
    help: 'Whether requests that show no credential are system:anonymous; else they are refused with 401.',
  },
  {
    name: 'api-audiences',
    type: 'strings',
    default: '',
    help: 'What tokens of service accounts must be meant for. Default: the issuers.',
  },
  {
    name: 'authorization-mode',
    type: 'strings',
    default: '',
    help: 'Who decides: Node, RBAC, AlwaysAllow, AlwaysDeny. Default AlwaysAllow.',
  },
  {
    name: 'bind-address',
    type: 'string',
    default: '0.0.0.0',
    help: 'Address to listen on.',
  },
  {
    name: 'cert-dir',
    type: 'string',
    default: '/var/run/kubernetes',
    help: 'Where apiserver.crt and apiserver.key are read, or made when they are not there and --tls-cert-file is not given.',
  },
  {
    name: 'client-ca-file',
    type: 'string',
    default: '',
    help: 'Authorities of client certificates: the common name is the user, organizations are groups.',
  },
  {
    name: 'disable-admission-plugins',
    type: 'strings',
    default: '',
    help: 'Plug-ins that are on by default and should not run.',
  },
  {
    name: 'enable-admission-plugins',
    type: 'strings',
    default: '',
    help: 'Plug-ins to run beyond the default ones.',
  },
  {
    name: 'etcd-servers',
    type: 'strings',
    default: '',
    help: 'Required, as upstream; not used: objects are kept in the memory of this process.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'This text.' },
  {
    name: 'max-mutating-requests-inflight',
    type: 'int',
    default: '200',
    help: 'How many writing requests are worked on at once.',
  },
  {
    name: 'max-requests-inflight',
    type: 'int',
    default: '400',
    help: 'How many reading requests are worked on at once.',
  },
  {
    name: 'proxy-client-cert-file',
    type: 'string',
    default: '',
    help: 'Client certificate that is shown to the API servers behind APIServices.',
  },
  {
    name: 'proxy-client-key-file',
    type: 'string',
    default: '',
    help: 'Its key.',
  },
  {
    name: 'requestheader-allowed-names',
    type: 'strings',
    default: '',
    help: 'Common names of front proxies. Default: any.',
  },
  {
    name: 'requestheader-client-ca-file',
    type: 'string',
    default: '',
    help: 'Authorities of front proxies, which name the user in X-Remote-* headers.',
  },
  {
    name: 'runtime-config',
    type: 'strings',
    default: '',
    help: 'Versions served beyond the default, or not: coordination.k8s.io/v1beta1=true.',
  },
  { name: 'secure-port', type: 'int', default: '6443', help: 'HTTPS port.' },
  {
    name: 'service-account-issuer',
    type: 'strings',
    default: '',
    help: 'Of tokens: the first signs, all are accepted.',
  },
  {
    name: 'service-account-key-file',
    type: 'strings',
    default: '',
    help: 'Keys or certificates that tokens are judged by.',
  },
  {
    name: 'service-account-signing-key-file',
    type: 'string',
    default: '',
    help: 'Private key that signs tokens.',
  },
  {
    name: 'service-cluster-ip-range',
    type: 'string',
    default: '10.0.0.0/24',
    help: 'Addresses of services; two, comma separated, for two families.',
  },
  {
    name: 'tls-cert-file',
    type: 'string',
    default: '',
    help: 'Certificate to serve with.',
  },
  { name: 'tls-private-key-file', type: 'string', default: '', help: 'Its key.' },
  {
    name: 'token-auth-file',
    type: 'string',
    default: '',
    help: 'Static tokens: lines of token,user,uid,"group,group".',
  },
  {
    name: 'v',
    shorthand: 'v',
    type: 'int',
    default: '0',
    help: 'Log verbosity; 0 is silent but for warnings about flags.',
  },
  { name: 'version', type: 'optionalString', default: 'false', help: 'Print the version.' },
]
