"""SDFormat, the files of Gazebo and Drake."""
