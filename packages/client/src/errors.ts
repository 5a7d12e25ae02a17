import { defineErrors } from '@gyropilot/foundation'

/** Every error of this package that is neither a server's Status nor a missing answer (StatusError, TransportError). */
export const clientErrors = defineErrors({
  REQUEST_INVALID: {
    exitCode: 1,
    meaning:
      'A request was refused before it was sent: its name, namespace or options cannot form a path.',
    remedy: 'Give the name and, for a namespaced type, the namespace.',
  },
  RATE_LIMIT_INVALID: {
    exitCode: 1,
    meaning: 'A client was given a positive QPS without a positive burst.',
    remedy: 'Set the burst to 1 or more, or the QPS to a negative number for no limit.',
  },
  ANSWER_UNDECODABLE: {
    exitCode: 1,
    meaning: 'The server answered with success and a body that is not the JSON it should be.',
    remedy: 'Check that the address is that of an API server and not of a proxy or login page.',
  },
  KUBECONFIG_NOT_FOUND: {
    exitCode: 1,
    meaning: 'The kubeconfig file that was named does not exist or cannot be read.',
    remedy: 'Check the path given by --kubeconfig or KUBECONFIG.',
  },
  KUBECONFIG_MALFORMED: {
    exitCode: 1,
    meaning: 'A kubeconfig file is not YAML or JSON, or a field has a value of another type.',
    remedy: 'Correct the file at the place named; quote values such as y, n, on and off.',
  },
  KUBECONFIG_INVALID: {
    exitCode: 1,
    meaning: 'The kubeconfig was read, but its context, cluster or user cannot be used.',
    remedy: 'Correct the entry named in the message, or choose another context.',
  },
  KUBECONFIG_ENTRY_MISSING: {
    exitCode: 1,
    meaning: 'A context, cluster or user chosen on the command line is not in the kubeconfig.',
    remedy: 'Choose one that `kubectl config get-contexts` lists.',
  },
  CONFIGURATION_MISSING: {
    exitCode: 1,
    meaning:
      'Neither a kubeconfig nor a server address was given, and this process does not run in a pod.',
    remedy: 'Give --kubeconfig, or --master, or run in a pod with a service account.',
  },
  IN_CLUSTER_UNAVAILABLE: {
    exitCode: 1,
    meaning: 'The in-cluster configuration was asked for and cannot be read.',
    remedy: 'Run in a pod whose service account token is mounted, or give --kubeconfig.',
  },
  CREDENTIALS_UNREADABLE: {
    exitCode: 1,
    meaning:
      'A token, certificate or key of the configuration cannot be read, is empty, or does not belong to the other.',
    remedy: 'Check that the file exists and that this user may read it.',
  },
  AUTHORITIES_UNUSABLE: {
    exitCode: 1,
    meaning: 'The certificate authority of the configuration holds no certificate.',
    remedy: 'Put its PEM text into certificate-authority-data (in base64) or into the file named.',
  },
  AUTH_PROVIDER_UNSUPPORTED: {
    exitCode: 1,
    meaning: 'The user of the kubeconfig has an auth-provider that is not available here.',
    remedy: 'Use an exec credential plug-in instead.',
  },
  AUTH_PROVIDER_FAILED: {
    exitCode: 1,
    meaning: 'The oidc auth-provider of the kubeconfig user gave no token.',
    remedy: 'Log in again with the tool that wrote the auth-provider into the kubeconfig.',
  },
  EXEC_PLUGIN_NOT_FOUND: {
    exitCode: 1,
    meaning: 'The exec credential plug-in of the kubeconfig user is not installed.',
    remedy: 'Install it as the install hint in the message says, or correct the command.',
  },
  EXEC_PLUGIN_FAILED: {
    exitCode: 1,
    meaning: 'The exec credential plug-in ended with an error or answered something unusable.',
    remedy: 'Run its command by hand and log in again where it asks for that.',
  },
  PROXY_UNSUPPORTED: {
    exitCode: 1,
    meaning: 'The proxy address has a scheme that cannot be used.',
    remedy: 'Use an http://, https:// or socks5:// proxy.',
  },
  DISCOVERY_FAILED: {
    exitCode: 1,
    meaning: 'No resource of the wanted kind is served, or groups could not be read.',
    remedy: 'Check the group, version and kind, and that its aggregated API server is up.',
  },
})
