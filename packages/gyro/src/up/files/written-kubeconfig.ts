/** The kubeconfig of `gyro up`, where it is asked for or a place is left. */
import { join, resolve } from 'node:path'
import { fileProblem } from '@gyropilot/foundation'
import { gyroErrors } from '../../errors.ts'
import { ClusterRegistry } from '../../running/registry.ts'
import { placeOf } from '../place.ts'
import type { UpOptions } from '../up-options.ts'
import { isReplaceable, kubeconfigPlace, ownedText, runningOwnerOf } from './kubeconfig-file.ts'
import type { KubeconfigPlace } from './kubeconfig-file.ts'
import { replacePrivateFile } from './private-file.ts'

export function writeKubeconfig(options: UpOptions, text: string, port: number): KubeconfigPlace {
  const path = resolve(options.kubeconfig || join(placeOf(options), 'kubeconfig'))
  const asked = options.kubeconfig !== ''
  const place = kubeconfigPlace({ path, asked, port }, (file) =>
    runningOwnerOf(file, ClusterRegistry.ofUser().running()),
  )
  if (!isReplaceable(place.path))
    throw gyroErrors.make(
      'KUBECONFIG_NOT_WRITTEN',
      `${place.path} is not of gyro up, and would be lost: choose another file with --kubeconfig; --merge-kubeconfig adds this cluster to ~/.kube/config`,
    )
  writeBesideKubeconfig(place.path, ownedText(text, process.pid))
  return place
}

/** The kubeconfig itself too; nobody but this user may read it. */
export function writeBesideKubeconfig(path: string, text: string): void {
  try {
    replacePrivateFile(path, text)
  } catch (error) {
    throw gyroErrors.make(
      'KUBECONFIG_NOT_WRITTEN',
      `cannot write the kubeconfig: ${fileProblem(error)}: choose another file with --kubeconfig`,
      { cause: error },
    )
  }
}
