// The retention simulator.

export const Simulator = () => null;
