import { helpPage } from '../flag-help.ts'
import { upFlags } from './up-flags.ts'

const INTRODUCTION = `Starts a Kubernetes cluster in this process: an API server that kubectl understands, the control loops, a scheduler and
simulated nodes whose pods run without containers. Prints the line to copy and tells what happens until Ctrl-C; with --detach it
returns, and gyro status, gyro kubeconfig and gyro down of the same folder find it.

Examples:
  gyro up                                        a cluster on port 6443, gone when it ends
  gyro up --detach --merge-kubeconfig            in the background; kubectl uses it at once; gyro down ends both
  gyro up --port 0 --kubeconfig ./kubeconfig     any free port; the kubeconfig tells which
  gyro up --data-dir ./cluster                   the same cluster again next time
  gyro up --managers 3                           three controller managers that elect a leader; kill it and see
  gyro up --cloud in-memory                      Services of type LoadBalancer get an address
  gyro up --components api-server                the API server alone

Exit codes: 0 it ran and was stopped: by Ctrl-C, SIGTERM, or as its terminal was closed; 128 and the number of the signal, such as
130: stopped before it was ready; 1 it could not start, or a second signal ended it at once; 2 the command line is wrong.

Usage:
  gyro up [flags]

Flags:
`

/** `columns` is the width of the terminal. */
export function helpText(columns: number): string {
  return helpPage(INTRODUCTION, upFlags, columns)
}
