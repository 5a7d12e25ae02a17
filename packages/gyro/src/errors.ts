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
  CLUSTER_NOT_NAMED: {
    exitCode: 1,
    meaning:
      'No kubeconfig says which cluster gyro why, gyro node, or a gyro up without an API server of its own is to work on.',
    remedy: 'Set KUBECONFIG, or use --kubeconfig; gyro up prints that of its cluster.',
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
  CLUSTER_NOT_RUNNING: {
    exitCode: 1,
    meaning: 'No cluster of gyro up runs in this folder, or in the process that was named.',
    remedy: 'Start one with gyro up, or see gyro status --all for those of other folders.',
  },
  CLUSTER_AMBIGUOUS: {
    exitCode: 1,
    meaning: 'Several clusters of gyro up run in this folder.',
    remedy: 'Choose one with --process; gyro status shows them.',
  },
  CLUSTER_RUNNING: {
    exitCode: 1,
    meaning:
      'gyro up --detach finds a cluster in this folder that was started with other flags, or whose kubeconfig is gone.',
    remedy: 'Stop it with gyro down, or start the other one in a folder of its own.',
  },
  CLUSTER_NOT_STOPPED: {
    exitCode: 1,
    meaning: 'The cluster was told to end and did not within --timeout, or may not be told.',
    remedy: 'Look into its log; kill -9 ends the process at once.',
  },
  KUBECONFIG_NOT_MERGED: {
    exitCode: 1,
    meaning:
      'The cluster could not be put into the kubeconfig that kubectl uses, or not be taken out: it is locked, no kubeconfig, cannot be written, or has an entry of that name which is not of gyro.',
    remedy: 'Correct the file as the message says; gyro kubeconfig prints what was to go into it.',
  },
  KUBECONFIG_NOT_OURS: {
    exitCode: 1,
    meaning:
      'gyro kubeconfig has nothing to print: what runs has joined another cluster, or the file of the cluster is gone.',
    remedy: 'Use the kubeconfig that it was started with, or start it again.',
  },
  STATUS_FLAG_INVALID: {
    exitCode: 2,
    meaning: 'A flag of gyro status has a value that cannot be used.',
    remedy: 'Correct the flag named in the message; gyro status --help lists them.',
  },
  DOWN_FLAG_INVALID: {
    exitCode: 2,
    meaning: 'A flag of gyro down has a value that cannot be used.',
    remedy: 'Correct the flag named in the message; gyro down --help lists them.',
  },
  KUBECONFIG_FLAG_INVALID: {
    exitCode: 2,
    meaning: 'A flag of gyro kubeconfig has a value that cannot be used.',
    remedy: 'Correct the flag named in the message; gyro kubeconfig --help lists them.',
  },
  COMPLETION_SHELL_UNKNOWN: {
    exitCode: 2,
    meaning: 'gyro completion was not told one of the shells that it knows.',
    remedy:
      'Write gyro completion bash, zsh or fish; gyro completion --help tells where to put it.',
  },
  VERSION_FLAG_INVALID: {
    exitCode: 2,
    meaning: 'A flag of gyro version has a value that cannot be used.',
    remedy: 'Correct the flag named in the message; gyro version --help lists them.',
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
      'The data directory is in use by another process, was written by a newer version, lacks a key of its cluster, or cannot be read or written.',
    remedy:
      'Stop the other process, use the newer version, put the key back from a copy, or choose another --data-dir.',
  },
  LOG_NOT_WRITTEN: {
    exitCode: 1,
    meaning: 'The log of gyro up --detach could not be written.',
    remedy: 'Start it in a folder that this user may write, or choose a --data-dir that may be.',
  },
  KUBECONFIG_NOT_WRITTEN: {
    exitCode: 1,
    meaning:
      'The kubeconfig, or a key that stands beside it, could not be written where --kubeconfig says, or a file stands there that is not of gyro up.',
    remedy:
      'Choose a file that this user may write, or that is not there; --merge-kubeconfig adds to an existing one.',
  },
})
