import { helpPage } from '../flag-help.ts'
import { checkFlags } from './check-flags.ts'

const INTRODUCTION = `Judges manifests as kube-apiserver 1.36 would, without a cluster: unknown and repeated fields, defaults, validation,
CustomResourceDefinitions with their schemas and CEL rules, admission policies with their bindings, pod security,
deprecations. It says what the server says, with file, line and column.

Definitions, namespaces and policies are in force for all of the input, whatever the order of files. What a cluster
would have besides is taken as there: namespaces, service accounts, classes. Webhooks are not called.

Of folders, files ending in .yaml, .yml and .json are read. Left out, with a word: what is no object of Kubernetes, the
templates of Helm charts, what a kustomization does not list under resources or crds; give these rendered.

Examples:
  gyro check k8s/                                    all manifests below a folder
  kubectl kustomize overlays/prod | gyro check -     what kustomize makes
  helm template web charts/web | gyro check -        what Helm renders
  gyro check --pod-security restricted k8s/          as in namespaces that enforce a level
  gyro check --output github k8s/                    annotations in a pull request
  gyro check --ignore-missing-kinds k8s/             kinds whose definitions are elsewhere

Exit codes: 0 everything is accepted; 1 something is refused (or warned of, with --warnings-as-errors); 2 the command
line is wrong, or a file cannot be read; the others are checked all the same.

Usage:
  gyro check FILE... [flags]

Flags:
`

/** `columns` is the width of the terminal. */
export function helpText(columns: number): string {
  return helpPage(INTRODUCTION, checkFlags, columns)
}
