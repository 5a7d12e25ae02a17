/** For programs that run the cloud loops with providers of their own: `await runProgram(cloudControllerManager(registry), args)`. */
export { runProgram } from '../command.ts'
export { cloudControllerManager } from './cloud-controller-manager.ts'
