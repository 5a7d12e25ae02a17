import { defineErrors } from '@gyropilot/foundation'

/** Errors a user of kube-controller-manager can meet, besides those of the client. */
export const managerErrors = defineErrors({
  FLAG_INVALID: {
    exitCode: 1,
    meaning: 'A flag is unknown, lacks its value, or has a value of the wrong form.',
    remedy: 'Correct the flag named in the message; --help lists all flags.',
  },
  ARGUMENT_UNEXPECTED: {
    exitCode: 1,
    meaning: 'The command was given an argument that is no flag.',
    remedy: 'Remove it; values of flags are written --name=value.',
  },
  OPTIONS_INVALID: {
    exitCode: 1,
    meaning: 'The flags are well-formed, but their values cannot be used, alone or together.',
    remedy: 'Correct the values named in the message.',
  },
  FEATURE_GATE_INVALID: {
    exitCode: 1,
    meaning: 'A feature gate is unknown, or locked to another value in this release.',
    remedy: 'Remove the gate from --feature-gates.',
  },
  SERVING_FAILED: {
    exitCode: 1,
    meaning:
      'The HTTPS port cannot be served: it is taken, or certificate and key cannot be read or are no pair.',
    remedy: 'Choose another --secure-port, or correct the files named in the message.',
  },
  API_SERVER_UNHEALTHY: {
    exitCode: 1,
    meaning: 'The API server did not answer /healthz with 200 within ten seconds of leadership.',
    remedy: 'Check the server address of the kubeconfig and the server itself.',
  },
  AUTHENTICATION_LOOKUP_FAILED: {
    exitCode: 1,
    meaning:
      'The settings of front proxies could not be read from ConfigMap kube-system/extension-apiserver-authentication.',
    remedy:
      'Give the identity of --authentication-kubeconfig the role extension-apiserver-authentication-reader, or set --authentication-tolerate-lookup-failure.',
  },
  LEADER_ELECTION_TIMING_INVALID: {
    exitCode: 2,
    meaning: 'The durations of --leader-elect-* cannot work together.',
    remedy:
      'Keep the lease duration above the renew deadline, and that above 1.2 times the retry period.',
  },
  LEASE_LOST: {
    exitCode: 1,
    meaning: 'This process is not the leader any more, so it must end; another one has taken over.',
    remedy: 'Let the service manager start it again.',
  },
  SHUTDOWN_TIMEOUT: {
    exitCode: 1,
    meaning: 'Some controllers did not stop within --controller-shutdown-timeout.',
    remedy: 'Look for the controllers named in the log; raise the timeout if they need it.',
  },
})
