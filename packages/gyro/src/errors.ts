import { defineErrors } from '@gyropilot/foundation'

/** Errors a user of `gyro` can meet, besides those of the client and of kube-controller-manager's flags. */
export const gyroErrors = defineErrors({
  COMMAND_UNKNOWN: {
    exitCode: 2,
    meaning: 'The first argument names no command of gyro.',
    remedy: 'See gyro --help for the commands.',
  },
  UP_FLAG_INVALID: {
    exitCode: 2,
    meaning: 'A flag of gyro up has a value that cannot be used.',
    remedy: 'Correct the flag named in the message; gyro up --help lists them.',
  },
  SIMULATE_FLAG_INVALID: {
    exitCode: 2,
    meaning: 'A flag of gyro simulate has a value that cannot be used.',
    remedy: 'Correct the flag named in the message; gyro simulate --help lists them.',
  },
  SCENARIO_UNUSABLE: {
    exitCode: 2,
    meaning:
      'The scenario is neither a built-in one nor a module whose default export has a name and a play function.',
    remedy:
      'Name a file as docs/guides/test-your-controller.md shows, or a part of the name of a built-in scenario.',
  },
  WHY_ARGUMENT_INVALID: {
    exitCode: 2,
    meaning: 'gyro why was not told one object, or a flag has a value that cannot be used.',
    remedy: 'Write gyro why KIND/NAME; gyro why --help lists the flags.',
  },
  CHECK_ARGUMENT_INVALID: {
    exitCode: 2,
    meaning: 'gyro check was given nothing to check, or a flag has a value that cannot be used.',
    remedy: 'Write gyro check FILE...; gyro check --help lists the flags.',
  },
  CHECK_FOUND_NOTHING: {
    exitCode: 2,
    meaning: 'What gyro check was given can be read and holds no manifest.',
    remedy:
      'Name the files, or look at what comes before the pipe: charts are rendered by helm template, kustomizations built by kubectl kustomize.',
  },
  NODE_ARGUMENT_INVALID: {
    exitCode: 2,
    meaning:
      'gyro node was not told what to do with which nodes, or a flag has a value that cannot be used.',
    remedy: 'Write gyro node stop NAME or gyro node start NAME; gyro node --help lists the flags.',
  },
  NODE_UNKNOWN: {
    exitCode: 1,
    meaning: 'The node that gyro node was told of does not exist, or is not a simulated one.',
    remedy: 'Correct the name, or --context; see kubectl get nodes.',
  },
  KIND_UNKNOWN: {
    exitCode: 2,
    meaning: 'The server has no kind of the name that was given to gyro why.',
    remedy: 'Correct the name, or add its group: widgets.example.com; see kubectl api-resources.',
  },
  OBJECT_GONE: {
    exitCode: 1,
    meaning: 'The object that gyro why was asked about does not exist.',
    remedy: 'It is gone; or correct the name, --namespace or --context.',
  },
  ENVTEST_FLAG_INVALID: {
    exitCode: 2,
    meaning: 'A flag of gyro envtest has a value that cannot be used.',
    remedy: 'Correct the flag named in the message; gyro envtest --help lists them.',
  },
  ASSETS_NOT_WRITTEN: {
    exitCode: 1,
    meaning: 'The folder of the test programs could not be written.',
    remedy: 'Choose a folder that this user may write with gyro envtest --dir.',
  },
  KUBE_APISERVER_FLAG_INVALID: {
    exitCode: 1,
    meaning: 'A flag given to the stand-in for kube-apiserver cannot be used.',
    remedy: 'Correct the flag named in the message; kube-apiserver --help lists them.',
  },
  KUBE_APISERVER_FILE_UNREADABLE: {
    exitCode: 1,
    meaning: 'A file that a flag of the stand-in for kube-apiserver names cannot be read or used.',
    remedy: 'Correct the file named in the message.',
  },
  PORT_IN_USE: {
    exitCode: 1,
    meaning: 'Another process listens on the port.',
    remedy: 'Choose another --port, or --port 0 for any free one.',
  },
  LISTEN_FAILED: {
    exitCode: 1,
    meaning: 'The address cannot be listened on.',
    remedy: 'Check --bind-address and --port, and the rights of this user.',
  },
  DATA_DIRECTORY_UNUSABLE: {
    exitCode: 1,
    meaning:
      'The data directory is in use by another process, was written by a newer version, or cannot be read or written.',
    remedy: 'Stop the other process, use the newer version, or choose another --data-dir.',
  },
  KUBECONFIG_NOT_WRITTEN: {
    exitCode: 1,
    meaning: 'The kubeconfig could not be written where --kubeconfig says.',
    remedy: 'Choose a file that this user may write.',
  },
})
